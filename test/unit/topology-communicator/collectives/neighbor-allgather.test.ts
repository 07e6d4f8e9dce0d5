import { type Communicator, local, run, type TopologyCommunicator } from 'rankweave'
import { plan, planStatistics, type Strategy } from 'rankweave/schedule'
import { describe, expect, it } from 'vitest'
import { BlockStore } from '../../../../src/calls/values/block-store.js'
import { UniformStore } from '../../../../src/calls/values/uniform-store.js'
import { typeCode } from '../../../../src/messages/datatype/elements.js'
import { directSchedule } from '../../../../src/neighborhood/strategies/direct.js'
import { erdosRenyiTopology } from '../../../../src/topology/generate/random-graphs.js'
import { mooreTopology } from '../../../../src/topology/generate/stencil.js'
import type { ProcessTopology } from '../../../../src/topology/process-topology.js'
import { topologyFromEdges } from '../../../../src/topology/topology-builders.js'
import { lowerProcess } from '../../../support/lower-process.js'
import { coded, codeOf, onRanks } from '../../../support/on-ranks.js'

const rankCounts = [1, 2, 3, 4, 7, 8, 16]
const strategies: readonly Strategy[] = [
  { kind: 'direct' },
  ...[2, 3, 4].map((k) => ({ kind: 'common-neighbor', k, mode: 'agnostic', theta: k }) as const),
  { kind: 'common-neighbor', k: 2, mode: 'agnostic', theta: 1, dedupe: false, elide: false },
]

const complete = (ranks: number): ProcessTopology => {
  const pairs = [...Array(ranks * ranks).keys()]
  return topologyFromEdges(ranks, {
    sources: pairs.map((pair) => Math.floor(pair / ranks)),
    destinations: pairs.map((pair) => pair % ranks),
  })
}
const blockOf = (source: number, length: number, round = 0) =>
  Float64Array.from({ length }, (_, element) => source * 10_000 + round * 100 + element)
const expectedOf = (comm: TopologyCommunicator, length: (rank: number) => number, round = 0) =>
  [...comm.sources].flatMap((source) => [...blockOf(source, length(source), round)])

describe('messages of a neighbor allgather', () => {
  const topologies = [
    ...rankCounts.map((ranks) => ({ name: `complete ${ranks}`, topology: complete(ranks) })),
    { name: 'moore 5x5 r=2', topology: mooreTopology({ dims: [5, 5], radius: 2 }) },
    { name: 'er 48', topology: erdosRenyiTopology({ ranks: 48, density: 0.4, seed: 3 }) },
    { name: 'empty 5', topology: topologyFromEdges(5, { sources: [], destinations: [] }) },
  ]

  it.each(topologies)('are as many as planned with one rank per process: $name', async ({ topology }) => {
    const { ranks } = topology
    for (const strategy of strategies) {
      const planned = planStatistics(plan(topology, strategy))
      const main = async (world: Communicator) => {
        const graph = await world.createTopology(topology, { strategy })
        await world.barrier()
        const before = world.counters.process.framesSent
        await graph.neighborAllgather(Float64Array.of(world.rank))
        const carried = world.counters.process.framesSent - before
        const { messagesSent, framesSent, messagesInProcess, blocksSent } = graph.traffic
        expect([messagesInProcess, carried]).toEqual([0, framesSent])
        // Without elision two messages of a phase may have the same two ranks; they share a frame.
        if (!('elide' in strategy) || strategy.elide !== false) expect(framesSent).toBe(messagesSent)
        else expect(framesSent).toBeLessThanOrEqual(messagesSent)
        return { messagesSent, blocksSent }
      }
      const counted = await run(main, { ranks, processes: ranks })
      const sum = (key: 'messagesSent' | 'blocksSent') =>
        counted.reduce((total, each) => total + each[key], 0)
      expect(sum('messagesSent')).toBe(planned.messages.planned)
      expect(Math.max(...counted.map((each) => each.messagesSent))).toBe(planned.messages.maxPerRank)
      expect(sum('blocksSent')).toBeLessThanOrEqual(planned.volumeBlocks)
    }
  })

  it('become copies inside a process, and one frame per pair of processes and round', async () => {
    const topology = erdosRenyiTopology({ ranks: 48, density: 0.4, seed: 3 })
    const strategy = strategies[2]
    const { messages } = planStatistics(plan(topology, strategy))
    for (const processes of [1, 2, 5]) {
      const main = async (world: Communicator) => {
        const graph = await world.createTopology(topology, { strategy })
        await graph.neighborAllgather(Float64Array.of(world.rank))
        return { process: world.location.process, traffic: { ...graph.traffic } }
      }
      const byProcess = new Map<
        number,
        { messagesSent: number; messagesInProcess: number; framesSent: number }
      >()
      for (const { process, traffic } of await run(main, { ranks: 48, processes })) {
        byProcess.set(process, traffic)
      }
      const all = [...byProcess.values()]
      const total = all.reduce((sum, each) => sum + each.messagesSent + each.messagesInProcess, 0)
      expect(total).toBe(messages.planned)
      if (processes === 1) expect(all[0].framesSent).toBe(0)
      for (const { framesSent, messagesSent } of all) expect(framesSent).toBeLessThanOrEqual(messagesSent)
      const pairs = processes * (processes - 1)
      expect(all.reduce((sum, each) => sum + each.framesSent, 0)).toBeLessThanOrEqual(pairs * 8)
    }
  })

  it('complete without a frame or a turn of the event loop when one process hosts all ranks', async () => {
    const main = async (world: Communicator) => {
      const graph = await world.createTopology(complete(4))
      let turned = false
      setImmediate(() => {
        turned = true
      })
      await graph.neighborAllgather(Int8Array.of(1))
      return turned
    }
    expect(await run(main, { ranks: 4 })).toEqual([false, false, false, false])
  })
})

describe('persistent neighborAllgather', () => {
  it('matches starts of several requests separately from other collectives', async () => {
    const main = async (world: Communicator) => {
      const graph = await world.createTopology(complete(7), { strategy: strategies[1] })
      const recv = [new Float64Array(7), new Float64Array(14)]
      const requests = recv.map((into, i) => graph.neighborAllgatherInit(blockOf(world.rank, i + 1, i), into))
      // Ranks start them in different orders.
      const order = world.rank % 2 === 0 ? [0, 1] : [1, 0]
      for (let round = 0; round < 3; round++) {
        for (const into of recv) into.fill(-1)
        const starts = order.map((i) => requests[i].start())
        const between = await graph.neighborAllgather(blockOf(world.rank, 1, 9))
        await Promise.all(starts)
        expect([...between]).toEqual(expectedOf(graph, () => 1, 9))
        for (const [i, into] of recv.entries()) expect([...into]).toEqual(expectedOf(graph, () => i + 1, i))
      }
    }
    for (const processes of [1, 2, 5]) await run(main, { ranks: 7, fabric: local({ processes, seed: 5 }) })
  })

  it('rejects a second active start, and a start after free', async () => {
    const main = async (world: Communicator) => {
      const graph = await world.createTopology(complete(3))
      const request = graph.neighborAllgatherInit(new Float64Array(1), new Float64Array(3))
      const active = request.start()
      const again = request.start()
      expect(() => request.free()).toThrow(coded('ERR_REQUEST'))
      await expect(again).rejects.toMatchObject({ code: 'ERR_REQUEST' })
      await active
      await request.start()
      request.free()
      expect(() => request.free()).toThrow(coded('ERR_REQUEST'))
      await expect(request.start()).rejects.toMatchObject({ code: 'ERR_REQUEST' })
      await graph.free()
    }
    for (const processes of [1, 2]) await run(main, { ranks: 3, processes })
  })

  it.each<[string, (rank: number) => [Float64Array | Uint8Array, Float64Array | Uint8Array]]>([
    ['counts', (rank) => [new Float64Array(rank), new Float64Array(6)]],
    [
      'types',
      (rank) =>
        rank === 0 ? [new Float64Array(1), new Float64Array(3)] : [new Uint8Array(1), new Uint8Array(3)],
    ],
  ])('rejects neighbors that bind other %s', async (_, buffers) => {
    for (const processes of [1, 3]) {
      const codes = await onRanks({ ranks: 3, processes }, async (world) => {
        const graph = await world.createTopology(complete(3))
        const [send, recv] = buffers(world.rank) as [Float64Array, Float64Array]
        // When another rank of this process called first, the init itself throws.
        return codeOf(() => graph.neighborAllgatherInit(send, recv).start())
      })
      expect(codes).toEqual(codes.map(() => 'ERR_COLLECTIVE_MISMATCH'))
    }
  })

  it('rejects buffers that do not fit', async () => {
    await onRanks({ ranks: 3 }, async (world) => {
      const graph = await world.createTopology(complete(3))
      for (const [code, send, recv] of [
        ['ERR_TYPE', [1], new Int8Array(3)],
        ['ERR_TYPE', new Int8Array(1), undefined],
        ['ERR_TYPE_MISMATCH', new Int8Array(1), new Int16Array(3)],
      ] as unknown as [string, Int8Array, Int8Array][]) {
        expect(() => graph.neighborAllgatherInit(send, recv)).toThrow(coded(code))
        expect(() => graph.neighborAllgathervInit(send, recv)).toThrow(coded(code))
      }
    })
    const short = async (world: Communicator) => {
      const graph = await world.createTopology(complete(3))
      expect(() => graph.neighborAllgatherInit(new Int8Array(2), new Int8Array(5))).toThrow(
        'neighborAllgatherInit: the receive buffer has room for 5 elements, the call receives 6: 2 of each of 3 sources',
      )
      const late = graph.neighborAllgathervInit(new Int8Array(2), new Int8Array(world.rank === 1 ? 5 : 6))
      const outcome = await codeOf(late.start())
      await graph.barrier()
      return outcome
    }
    const outcomes = [1, 3].map((processes) => run(short, { ranks: 3, processes }))
    expect(await Promise.all(outcomes)).toEqual([
      ['ERR_TRUNCATE', 'ERR_TRUNCATE', 'ERR_TRUNCATE'],
      ['none', 'ERR_TRUNCATE', 'none'],
    ])
  })

  it('aborts a start by its signal, which revokes the communicator', async () => {
    const main = async (world: Communicator) => {
      const graph = await world.createTopology(complete(2))
      const request = graph.neighborAllgatherInit(new Int8Array(1), new Int8Array(2))
      if (world.rank === 0) {
        const controller = new AbortController()
        const started = request.start({ signal: controller.signal })
        setImmediate(() => controller.abort())
        await expect(started).rejects.toMatchObject({ code: 'ERR_ABORTED' })
      }
      await world.barrier()
      await expect(graph.neighborAllgather(new Int8Array(1))).rejects.toMatchObject({ code: 'ERR_REVOKED' })
    }
    for (const processes of [1, 2]) await run(main, { ranks: 2, processes })
  })
})

it('leaves a longer buffer as it is if blocks are empty', async () => {
  const main = async (world: Communicator) => {
    const graph = await world.createTopology(complete(2))
    const buffers = Array.from({ length: 3 }, () => Int32Array.of(7, 7))
    await graph.neighborAllgather(new Int32Array(0), { into: buffers[0] })
    await graph.neighborAlltoall(new Int32Array(0), { into: buffers[1] })
    await graph.neighborAllgatherInit(new Int32Array(0), buffers[2]).start()
    return buffers
  }
  const seven = Int32Array.of(7, 7)
  for (const processes of [1, 2])
    expect(await run(main, { ranks: 2, processes })).toEqual(Array(2).fill([seven, seven, seven]))
})

const programOfThree = lowerProcess(directSchedule(complete(3)), new Int32Array(3), 0)

describe('BlockStore', () => {
  it('rejects more than 2^31 - 1 words', () => {
    const tooMany = () => BlockStore.of(programOfThree, 1, [2 ** 30, 2 ** 30])
    expect(tooMany).toThrow(coded('ERR_COUNT'))
    expect(() => new UniformStore(programOfThree, typeCode.Float64Array, 2 ** 30)).toThrow(coded('ERR_COUNT'))
  })
})
