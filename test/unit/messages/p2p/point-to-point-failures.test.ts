import { ANY_SOURCE, type Communicator, run } from 'rankweave'
import { describe, expect, it } from 'vitest'
import { codeOf, drained, openWorld } from './point-to-point-world.js'

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
