import { describe, expect, it } from 'vitest'
import { RankweaveError } from '../../../../src/errors.js'
import { envelopeChargeBytes } from '../../../../src/messages/process/credit.js'
import { codeOf, drained, openWorld } from './point-to-point-world.js'

/** A world of two ranks in which an eager message of three frames has arrived but for the last one. */
async function partlyArrived() {
  const world = await openWorld({
    ranks: 2,
    processes: 2,
    maxPayloadBytes: 24,
    faults: { delay: (src, _, n) => (src === 0 && n === 2 ? 200 : 0) },
  })
  const [a, b] = world.comms
  const sent = a.isend(new Int8Array(60), 1, 5)
  while ((await b.iprobe(0, 5)) === null);
  expect(world.session.quiet()).toBe(false)
  return { world, sent, b: b }
}

describe('an eager message that has arrived in part', () => {
  const error = new RankweaveError('ERR_REVOKED', 'revoked')

  it.each(['queued', 'matched', 'extracted'])(
    'returns its charge once when its communicator fails while it is %s',
    async (state) => {
      const { world, sent, b } = await partlyArrived()
      const receive = state === 'matched' ? codeOf(b.recv(0, 5)) : undefined
      const message = state === 'extracted' ? await b.mprobe(0, 5) : undefined
      world.states[1].fail(error)
      await sent.wait()
      await drained(world)
      if (receive !== undefined) expect(await receive).toBe('ERR_REVOKED')
      if (message !== undefined) expect(await codeOf(message.recv())).toBe('ERR_REVOKED')
      expect(world.runtimes[0].credit.outstanding(1).inFlightBytes).toBe(60 + envelopeChargeBytes)
      expect(world.runtimes[1].credit.outstanding(0).owedBytes).toBe(60 + envelopeChargeBytes)
      await world.session.close()
    },
  )

  it.each(['queued', 'matched', 'extracted'])(
    'returns its charge once when its communicator is freed while it is %s',
    async (state) => {
      const { world, sent, b } = await partlyArrived()
      const receive = state === 'matched' ? b.recv<Int8Array>(0, 5) : undefined
      const message = state === 'extracted' ? await b.mprobe(0, 5) : undefined
      await Promise.all(world.states.map(({ matching }) => matching.close()))
      await sent.wait()
      if (receive !== undefined) expect((await receive).data).toEqual(new Int8Array(60))
      if (message !== undefined) expect(await codeOf(message.recv())).toBe('ERR_COMM_FREED')
      expect(world.session.quiet()).toBe(true)
      expect(world.runtimes[0].credit.outstanding(1).inFlightBytes).toBe(60 + envelopeChargeBytes)
      expect(world.runtimes[1].credit.outstanding(0).owedBytes).toBe(60 + envelopeChargeBytes)
      await world.session.close()
    },
  )
})
