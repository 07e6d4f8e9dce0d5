import { describe, expect, it } from 'vitest'
import { RankweaveError } from '../../../../src/errors.js'
import { EnvelopeCount } from '../../../../src/messages/p2p/send-path.js'
import { drained, openWorld } from './point-to-point-world.js'

describe.each([0, 2 ** 31 - 2, 2 ** 32 - 2])('envelopes, %i of which were counted before', (before) => {
  it('that left are counted for each process', () => {
    const envelopes = new EnvelopeCount()
    envelopes.to(3).count = before
    for (let n = 0; n < 5; n++) envelopes.leave(3)
    envelopes.leave(1)
    expect([1, 2, 3].map((process) => envelopes.sentTo(process))).toEqual([1, 0, before + 5])
  })

  it('that have not arrived are waited for, and no others', async () => {
    const envelopes = new EnvelopeCount()
    envelopes.arrived = before
    await envelopes.whenArrived(before)
    const order: string[] = []
    const waits = [4, 1, 3].map((n) =>
      envelopes.whenArrived(before + n).then(() => order.push(`${n} arrived`)),
    )
    for (let n = 1; n <= 4; n++) {
      expect(envelopes.awaited).toBe(true)
      order.push(`envelope ${n}`)
      envelopes.arrive()
      await new Promise(setImmediate)
    }
    await Promise.all(waits)
    expect(envelopes.awaited).toBe(false)
    const expected = 'envelope 1, 1 arrived, envelope 2, envelope 3, 3 arrived, envelope 4, 4 arrived'
    expect(order.join(', ')).toBe(expected)
    const failing = envelopes.whenArrived(before + 5)
    envelopes.fail(new RankweaveError('ERR_REVOKED', 'revoked'))
    await expect(failing).rejects.toMatchObject({ code: 'ERR_REVOKED' })
  })

  it('in flight of a communicator are waited for by its free', async () => {
    const world = await openWorld({
      ranks: 2,
      processes: 2,
      faults: { delay: (src) => (src === 0 ? 30 : 0) },
    })
    const [a, b] = await Promise.all(world.comms.map((comm) => comm.dup()))
    const [from, to] = [a, b].map((comm) => comm.seat().state.matching.envelopes)
    from.to(1).count = before
    to.arrived = before
    for (let n = 0; n < 4; n++) a.isend(Int32Array.of(n), 1, n)
    const kept = b.irecv<Int32Array>(0, 3)
    await Promise.all([a.free(), b.free()])
    expect((await kept.wait()).data).toEqual(Int32Array.of(3))
    await drained(world)
    for (const runtime of world.runtimes) expect([...runtime.contexts]).toHaveLength(1)
    expect(to.arrived).toBe(before + 4)
    await world.session.close()
  })
})
