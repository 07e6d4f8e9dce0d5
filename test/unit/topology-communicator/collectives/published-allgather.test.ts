import { setImmediate as turn } from 'node:timers/promises'
import fc from 'fast-check'
import { type Communicator, isRankweaveError, worldReport } from 'rankweave'
import { describe, expect, it } from 'vitest'
import { ThreadsSession } from '../../../../src/fabric/threads/threads.js'
import { connectThreads, resolveThreads } from '../../../../src/fabric/threads/threads-connect.js'
import { topologyFromEdges } from '../../../../src/topology/topology-builders.js'
import { hostSession } from '../../../../src/world/world.js'
import { multigraphs, topologyOf } from '../../../support/multigraphs.js'
import { coded } from '../../../support/on-ranks.js'
import { cases } from '../../../support/soak.js'

/** Looks once per turn of the event loop, as a fabric that polls does. */
function watch(look: () => boolean): () => void {
  let isOver = false
  const looks = async () => {
    while (!isOver) {
      await turn()
      if (!isOver) look()
    }
  }
  void looks()
  return () => {
    isOver = true
  }
}

/** A world of processes that share memory and notice changes of it, all in this thread. */
async function inSharedMemory<R>(
  processes: number,
  ranks: number,
  main: (world: Communicator) => Promise<R>,
): Promise<R[]> {
  const worlds = connectThreads(resolveThreads({ processes })).map((connection) => {
    const session = new ThreadsSession(connection)
    for (const fabric of session.hosted) Object.assign(fabric, { watch })
    return hostSession(session, main, { ranks })
  })
  return (await Promise.all(worlds)).flat() as R[]
}

const countersOf = (world: Communicator) => world.seat().state.runtime.processCounters
const stagingOf = (world: Communicator) => world.seat().state.runtime.staging!
const codeOf = (error: unknown) => (isRankweaveError(error) ? error.code : error)

/** What rank `source` contributes to a call. */
const blockOf = (source: number, call: number, length: number) =>
  Array.from({ length }, (_, i) => (17 * source + 5 * call + i) % 251)

describe('neighbor allgathers read in shared memory', () => {
  it('give every rank the blocks of its sources, call by call, however far ranks are apart', async () => {
    const graphs = fc.record({
      graph: multigraphs.filter(({ ranks }) => ranks >= 3),
      length: fc.constantFrom(0, 1, 3, 40),
      pauses: fc.array(fc.nat(3), { minLength: 7, maxLength: 7 }),
    })
    await fc.assert(
      fc.asyncProperty(graphs, async ({ graph, length, pauses }) => {
        const topology = topologyOf(graph)
        await inSharedMemory(3, graph.ranks, async (world) => {
          const comm = await world.createTopology(topology, { strategy: { kind: 'direct' } })
          const send = new Float64Array(length)
          const recv = new Float64Array(length * comm.sources.length)
          const bytes = new Uint8Array(length)
          const short = new Uint8Array(length * comm.sources.length)
          const requests = [
            comm.neighborAllgatherInit(send, recv, { sharedMemory: true }),
            comm.neighborAllgatherInit(bytes, short, { sharedMemory: true }),
          ]
          await Promise.all(requests.map((request) => request.start()))
          await world.barrier()
          const { framesSent } = countersOf(world)
          for (let call = 0; call < 5; call++) {
            for (let pause = pauses[(world.rank + call) % pauses.length]; pause > 0; pause--) await turn()
            send.set(blockOf(comm.rank, call, length))
            bytes.set(send)
            await Promise.all(requests.map((request) => request.start()))
            const expected = [...comm.sources].flatMap((source) => blockOf(source, call, length))
            expect([...recv]).toEqual(expected)
            expect([...short]).toEqual(expected)
          }
          // Nothing was sent, neither by this nor for others.
          expect(countersOf(world).framesSent).toBe(framesSent)
          await world.barrier()
          for (const request of requests) request.free()
          await comm.free()
        })
      }),
      { numRuns: cases(60, 5) },
    )
  })

  it('complete only when destinations have begun the call before', async () => {
    const topology = topologyFromEdges(2, { sources: [0], destinations: [1], weights: null })
    let completed = 0
    await inSharedMemory(2, 2, async (world) => {
      const comm = await world.createTopology(topology)
      const recv = new Int32Array(comm.sources.length)
      const send = Int32Array.of(0)
      const request = comm.neighborAllgatherInit(send, recv, { sharedMemory: true })
      for (const call of [1, 2, 3, 4]) {
        send[0] = call
        if (world.rank === 1) {
          // This rank has begun the call before: the source completes this one, and not the next.
          while (completed < call) await turn()
          for (let i = 0; i < 5; i++) await turn()
          expect(completed).toBe(call)
        }
        await request.start()
        if (world.rank === 0) completed = call
        else expect([...recv]).toEqual([call])
      }
    })
  })

  it('name whom they wait for, and fail when the communicator is revoked', async () => {
    const topology = topologyFromEdges(2, { sources: [1], destinations: [0], weights: null })
    const outcomes = await inSharedMemory(2, 2, async (world) => {
      const comm = await world.createTopology(topology)
      const recv = new Int32Array(comm.sources.length).fill(9)
      const request = comm.neighborAllgatherInit(Int32Array.of(3), recv, { sharedMemory: true })
      await request.start()
      recv.fill(9)
      await world.barrier()
      if (world.rank === 0) {
        const failure = request.start().then(() => 'completed', codeOf)
        await world.barrier()
        const said = worldReport()
        await world.barrier()
        const code = await failure
        return { said, code, recv: [...recv] }
      }
      await world.barrier()
      await world.barrier()
      const code = await comm.barrier({ signal: AbortSignal.abort() }).then(() => 'completed', codeOf)
      return { said: '', code, recv: [...recv] }
    })
    expect(outcomes[0].said).toMatch(/neighborAllgatherInit.* for data from process 1 with rank 1/)
    expect(outcomes.map(({ code }) => code)).toEqual(['ERR_REVOKED', 'ERR_ABORTED'])
    expect(outcomes[0].recv).toEqual([9])
  })

  it('retain memory until the communicator is freed, and are sent where there is none left', async () => {
    const topology = topologyFromEdges(2, { sources: [0, 1], destinations: [1, 0], weights: null })
    await inSharedMemory(2, 2, async (world) => {
      const staging = stagingOf(world)
      const all = staging.freeBytes
      const comm = await world.createTopology(topology)
      const recv = new Float64Array(100)
      const own = new Float64Array(100).fill(world.rank)
      const request = comm.neighborAllgatherInit(own, recv, { sharedMemory: true })
      await request.start()
      expect(all - staging.freeBytes).toBe(64 + 2 * 832)
      request.free()
      await comm.free()
      expect(staging.freeBytes).toBe(all)
      const quarter = world.rank === 1 ? staging.reserve(all / 4, world) : undefined
      const full = await world.createTopology(topology)
      const sent = full.neighborAllgatherInit(own, recv.fill(7), { sharedMemory: true })
      await world.barrier()
      const { framesSent } = countersOf(world)
      await sent.start()
      expect(countersOf(world).framesSent).toBe(framesSent + 1)
      expect(recv).toEqual(new Float64Array(100).fill(1 - world.rank))
      expect(quarter !== undefined).toBe(world.rank === 1)
      // Where there was memory for it, that is free again.
      expect(all - staging.freeBytes).toBe(world.rank === 1 ? all / 4 : 0)
    })
  })

  it('are direct sends where memory is not shared', async () => {
    const topology = topologyFromEdges(2, { sources: [0], destinations: [1], weights: null })
    await hostSession(
      new ThreadsSession(connectThreads(resolveThreads({ processes: 1 }))[0]),
      async (world) => {
        const comm = await world.createTopology(topology)
        const recv = new Int32Array(comm.sources.length)
        await comm.neighborAllgatherInit(Int32Array.of(4), recv, { sharedMemory: true }).start()
        expect([...recv]).toEqual(world.rank === 1 ? [4] : [])
      },
      { ranks: 2 },
    )
  })

  it('reject options that do not fit, and ranks that pass different ones', async () => {
    const topology = topologyFromEdges(2, { sources: [0, 1], destinations: [1, 0], weights: null })
    const block = new Int32Array(1)
    await inSharedMemory(2, 2, async (world) => {
      const comm = await world.createTopology(topology)
      const init = (options: object) => () => comm.neighborAllgatherInit(block, new Int32Array(1), options)
      expect(init({ sharedMemory: 1 })).toThrow(coded('ERR_ARGUMENT'))
      expect(init({ sharedMemory: true, tune: true })).toThrow(coded('ERR_STRATEGY'))
      const routed = await world.createTopology(topology, { strategy: { kind: 'routed' } })
      expect(() => routed.neighborAllgatherInit(block, new Int32Array(1), { sharedMemory: true })).toThrow(
        coded('ERR_STRATEGY'),
      )
      const request = init({ sharedMemory: world.rank === 0 })()
      const code = await request.start().then(() => 'completed', codeOf)
      expect(code).toBe('ERR_COLLECTIVE_MISMATCH')
    })
  })
})
