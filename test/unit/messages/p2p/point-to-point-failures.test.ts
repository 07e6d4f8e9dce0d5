import { describe, expect, it } from 'vitest'
import type { Communicator } from '../../../../src/comm/communicator.js'
import { run } from '../../../../src/launch/run.js'
import { ANY_SOURCE } from '../../../../src/messages/mailboxes/envelope.js'
import { waitall } from '../../../../src/messages/p2p/request.js'
import { onRanks } from '../../../support/on-ranks.js'
import { codeOf, drained, openWorld } from './point-to-point-world.js'

describe('freeing or failing a communicator', () => {
  const close = async (states: Awaited<ReturnType<typeof openWorld>>['states']) => {
    const arriving = states.map((_, at) =>
      states.reduce((sum, { matching }) => sum + matching.envelopes.sentTo(at), 0),
    )
    await Promise.all(states.map(({ matching }, at) => matching.whenArrived(arriving[at])))
    await Promise.all(states.map(({ matching }) => matching.close()))
  }

  it('fails unmatched sends and receives and completes matched ones', async () => {
    for (const options of [
      { processes: 1 },
      { processes: 2 },
      { processes: 2, bulk: false, maxPayloadBytes: 64 },
    ]) {
      const world = await openWorld({ ranks: 2, eagerLimitBytes: 400, ...options })
      const [a, b] = world.comms
      const buffered = a.isend(new Int8Array(300), 1, 1)
      const rendezvous = a.isend(new Int8Array(1000), 1, 1)
      const synchronous = a.issend(null, 1, 1)
      const matched = a.isend(new Int8Array(2000).fill(3), 1, 2)
      const extracted = a.isend(new Int8Array(1000), 1, 3)
      const receive = b.irecv(0, 2)
      const never = b.irecv(0, 9)
      const probing = codeOf(b.probe(0, 9))
      const message = await b.mprobe(0, 3)
      await close(world.states)
      await buffered.wait()
      expect(await codeOf(rendezvous.wait())).toBe('ERR_COMM_FREED')
      expect(await codeOf(synchronous.wait())).toBe('ERR_COMM_FREED')
      expect(await codeOf(extracted.wait())).toBe('ERR_COMM_FREED')
      expect(await codeOf(message.recv())).toBe('ERR_COMM_FREED')
      await matched.wait()
      expect((await receive.wait()).data).toEqual(new Int8Array(2000).fill(3))
      expect(await codeOf(never.wait())).toBe('ERR_COMM_FREED')
      expect(await probing).toBe('ERR_COMM_FREED')
      expect(world.session.quiet()).toBe(true)
      await world.session.close()
    }
  })

  it('waits for messages that are partly in flight, matched or not', async () => {
    const world = await openWorld({
      ranks: 2,
      processes: 2,
      maxPayloadBytes: 8,
      eagerLimitBytes: 1e6,
      seed: 5,
    })
    const [a, b] = world.comms
    const sent = [a.isend(new Int8Array(500).fill(1), 1, 1), a.issend(new Int8Array(500).fill(2), 1, 2)]
    const refused = codeOf(a.ssend(new Int8Array(500).fill(3), 1, 3))
    const receive = b.irecv(0, 2)
    await close(world.states)
    await waitall(sent)
    expect(await refused).toBe('ERR_COMM_FREED')
    expect((await receive.wait()).data).toEqual(new Int8Array(500).fill(2))
    expect(world.session.quiet()).toBe(true)
    await world.session.close()
  })

  it('fails pending and later operations with the error that ended it', async () => {
    for (const processes of [1, 2]) {
      const world = await onRanks({ ranks: 2, processes }, async (comm) => {
        if (comm.rank === 0) {
          const pending = [
            codeOf(comm.recv(1, 1)),
            codeOf(comm.ssend(new Int8Array(10), 1, 5)),
            codeOf(comm.probe(1, 1)),
            codeOf(comm.mprobe(1, 1)),
          ]
          comm.irecv(1, 4)
          setTimeout(() => comm.abort('enough'), 1)
          return await Promise.all([...pending, codeOf(comm.recv(1, 1))])
        }
        return codeOf(comm.recv(0, 2))
      }).catch((error) => error.code)
      expect(world).toBe('ERR_WORLD_ABORTED')
    }
  })
})

describe('a lost process', () => {
  it('fails operations that need it, and receives from any source until it is acknowledged; others continue', async () => {
    for (const bulk of [true, false]) {
      const world = await openWorld({
        ranks: 3,
        processes: 3,
        eagerLimitBytes: 100,
        maxPayloadBytes: 64,
        bulk,
      })
      const [a, b, c] = world.comms
      await c.send('in time', 0, 1)
      await drained(world)
      const failing = [
        a.recv(2, 2),
        a.probe(2, 2),
        a.recv(ANY_SOURCE, 2),
        a.ssend(1, 2),
        a.send(new Int8Array(1000), 2),
      ].map(codeOf)
      const offered = codeOf(c.send(new Int8Array(1000), 0, 7))
      await drained(world)
      const moving = codeOf((await a.mprobe(2, 7)).recv())
      const unaffected = a.irecv(1, 3)
      world.session.kill(2)
      await drained(world)
      expect(await Promise.all(failing)).toEqual(failing.map(() => 'ERR_PEER_LOST'))
      expect(await moving).toBe('ERR_PEER_LOST')
      expect(await codeOf(a.recv(2, 2))).toBe('ERR_PEER_LOST')
      expect(await codeOf(a.send(1, 2))).toBe('ERR_PEER_LOST')
      expect((await a.recv(2, 1)).data).toBe('in time')
      expect(await codeOf(a.recv())).toBe('ERR_PEER_LOST')
      expect(await codeOf(a.probe())).toBe('ERR_PEER_LOST')
      expect(await a.ackFailed()).toBe(1)
      const any = a.irecv()
      await b.send('still here', 0, 3)
      expect((await unaffected.wait()).data).toBe('still here')
      await b.send('and here', 0)
      expect((await any.wait()).data).toBe('and here')
      expect(['ERR_PEER_LOST', 'ERR_WORLD_ENDED']).toContain(await Promise.race([offered, 'ERR_PEER_LOST']))
      await world.session.close()
    }
  })
})

describe('detached buffers', () => {
  it('fail both sides of a pending send', async () => {
    for (const options of [{}, { processes: 2 }, { processes: 2, bulk: false }]) {
      const world = await openWorld({ ranks: 2, eagerLimitBytes: 0, ...options })
      const [a, b] = world.comms
      const data = new Float64Array(100)
      const send = a.isend(data, 1)
      structuredClone(data.buffer, { transfer: [data.buffer] })
      expect(await codeOf(b.recv(0))).toBe('ERR_TYPE')
      expect(await codeOf(send.wait())).toBe('ERR_TYPE')
      await world.session.close()
    }
  })
})

describe('point-to-point in a world', () => {
  it('head-to-head sends deadlock above the eager limit and complete below it', async () => {
    const exchange = async (world: Communicator) => {
      await world.send(new Int8Array(100), 1 - world.rank)
      return (await world.recv(1 - world.rank)).count
    }
    for (const processes of [1, 2]) {
      expect(await run(exchange, { ranks: 2, processes })).toEqual([100, 100])
      const stuck = run(exchange, { ranks: 2, processes, eagerLimitBytes: 99 })
      expect(await codeOf(stuck)).toBe('ERR_DEADLOCK')
      expect(await codeOf(run(exchange, { ranks: 2, processes, creditBytes: 99 }))).toBe('ERR_DEADLOCK')
    }
  })
})
