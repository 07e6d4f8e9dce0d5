import { describe, expect, it } from 'vitest'
import type { Communicator } from '../../../../src/comm/communicator.js'
import { isRankweaveError } from '../../../../src/errors.js'
import { local } from '../../../../src/fabric/local/local.js'
import { run } from '../../../../src/launch/run.js'
import { strided } from '../../../../src/messages/datatype/strided-view.js'
import type { Strategy } from '../../../../src/neighborhood/strategies/strategy.js'
import { mooreTopology } from '../../../../src/topology/generate/moore.js'
import { pairEdges } from '../../../../src/topology/neighbors.js'
import type { ProcessTopology } from '../../../../src/topology/process-topology.js'
import { topologyFromEdges } from '../../../../src/topology/topology-builders.js'
import { installNeighborhood } from '../../../../src/topology-communicator/install.js'
import type { TopologyCommunicator } from '../../../../src/topology-communicator/topology-communicator.js'

installNeighborhood()

const strategies: readonly Strategy[] = [
  { kind: 'direct' },
  { kind: 'common-neighbor', k: 2, mode: 'agnostic', theta: 0 },
  { kind: 'routed' },
  { kind: 'routed', radices: [3, 3, 2], first: 'highest' },
]
/**
 * Self loops, parallel edges, a rank that only receives (4), one that only sends (5), and one without
 * neighbors (6).
 */
const multigraph = topologyFromEdges(7, {
  sources: [0, 1, 0, 2, 2, 0, 1, 3, 0, 1, 5, 5, 3],
  destinations: [1, 1, 1, 0, 2, 3, 1, 0, 1, 4, 4, 2, 4],
})
const moore = mooreTopology({ dims: [3, 4], radius: 1 })

/** Element e of the block that travels along an edge of a topology. */
const mark = (edge: number, element: number): number => edge * 1000 + element

/** The blocks of these edges, one after the other. */
const blocks = (edges: Iterable<number>, lengthOf: (edge: number) => number): Float64Array =>
  Float64Array.from(
    [...edges].flatMap((edge) => Array.from({ length: lengthOf(edge) }, (_, e) => mark(edge, e))),
  )

const rangeOf = (start: Int32Array, rank: number): number[] =>
  Array.from({ length: start[rank + 1] - start[rank] }, (_, i) => start[rank] + i)

/** The edges that a rank receives along, in the order of its slots. */
function arrivingAt(topology: ProcessTopology, rank: number): number[] {
  const arrival = pairEdges(topology)
  return rangeOf(topology.inStart, rank).map((at) => arrival.indexOf(at))
}

describe.each(strategies.map((strategy) => [JSON.stringify(strategy), strategy] as const))(
  'neighborAlltoall by %s',
  (_, strategy) => {
    it.each([
      ['multigraph', multigraph, [3, 0, 4]],
      ['multigraph, one rank per process', multigraph, Array<number>(7).fill(1)],
      ['moore', moore, [5, 7]],
    ] as const)('brings every edge its block: %s', async (_name, topology, ranksPerProcess) => {
      const { ranks, outStart } = topology
      const main = async (world: Communicator) => {
        const graph = await world.createTopology(topology, { strategy })
        const sent = rangeOf(outStart, world.rank)
        const received = arrivingAt(topology, world.rank)
        for (const length of [0, 1, 5]) {
          const expected = blocks(received, () => length)
          expect(await graph.neighborAlltoall(blocks(sent, () => length))).toEqual(expected)
          const request = graph.ineighborAlltoall(blocks(sent, () => length))
          expect(await request.wait()).toEqual(expected)
        }
        const lengthOf = (edge: number) => edge % 4
        const counts = sent.map(lengthOf)
        const data = blocks(sent, lengthOf)
        const varied = await graph.neighborAlltoallv(data, counts)
        expect(varied.data).toEqual(blocks(received, lengthOf))
        expect([...varied.counts]).toEqual(received.map(lengthOf))
        const started = await graph.ineighborAlltoallv(data, counts, { counts: varied.counts }).wait()
        expect(started.data).toEqual(varied.data)
        await graph.free()
      }
      await run(main, { ranks, fabric: local({ ranksPerProcess: [...ranksPerProcess], seed: 4 }) })
    })

    it('pairs block s with slot s ^ 1 on a grid, and leaves slots without a neighbor as they are', async () => {
      const main = async (world: Communicator) => {
        // Extents 1 and 2 wrap around: self loops and double edges.
        const grid = (await world.createCart([1, 2, 3], { periods: [true, true, false], strategy }))!
        const slots = grid.destinations.length
        const data = Int32Array.from({ length: slots }, (_, slot) => grid.rank * 10 + slot)
        const into = new Int32Array(slots).fill(-1)
        expect(await grid.neighborAlltoall(data, { into })).toBe(into)
        const expected = [...grid.sources].map((source, slot) => (source < 0 ? -1 : source * 10 + (slot ^ 1)))
        expect([...into]).toEqual(expected)
        const counts = Array.from(data, (_, slot) => slot % 3)
        const packed = Int32Array.from(counts.flatMap((count, slot) => Array(count).fill(data[slot])))
        const varied = await grid.neighborAlltoallv(packed, counts)
        const lengths = [...grid.sources].map((source, slot) => (source < 0 ? 0 : (slot ^ 1) % 3))
        expect([...varied.counts]).toEqual(lengths)
        expect([...varied.data]).toEqual(
          lengths.flatMap((length, slot) => Array(length).fill(expected[slot])),
        )
      }
      await run(main, { ranks: 6, fabric: local({ ranksPerProcess: [2, 1, 3], seed: 2 }) })
    })
  },
)

/** Ranks that exchange with the next in both directions. */
const ring = (ranks: number) => {
  const all = [...Array(ranks).keys()]
  return topologyFromEdges(ranks, {
    sources: [...all, ...all],
    destinations: [...all.map((r) => (r + 1) % ranks), ...all.map((r) => (r + ranks - 1) % ranks)],
  })
}

describe('arguments of neighborAlltoall', () => {
  const onRing = async (main: (graph: TopologyCommunicator) => Promise<void>): Promise<void> => {
    await run(async (world: Communicator) => main(await world.createTopology(ring(4))), {
      ranks: 4,
      processes: 2,
    })
  }

  it('takes strided views, and what it fills may be what it sends', () =>
    onRing(async (graph) => {
      const matrix = Float64Array.from({ length: 6 }, (_, i) => graph.rank * 100 + i)
      const column = strided(matrix, { offset: 1, count: 2, blockLength: 1, stride: 3 })
      const fresh = await graph.neighborAlltoall(column)
      const data = Float64Array.of(matrix[1], matrix[4])
      expect(await graph.neighborAlltoall(data, { into: data })).toEqual(fresh)
      const { rank } = graph
      expect([...fresh].map((value) => Math.floor(value / 100))).toEqual([...graph.sources])
      expect([...graph.sources].every((source) => source !== rank)).toBe(true)
    }))

  it.each([
    ['ERR_COUNT', (graph: TopologyCommunicator) => graph.neighborAlltoall(new Int8Array(3))],
    ['ERR_TYPE', (graph: TopologyCommunicator) => graph.neighborAlltoall('ab' as never)],
    [
      'ERR_TRUNCATE',
      (graph: TopologyCommunicator) => graph.neighborAlltoall(new Int8Array(4), { into: new Int8Array(3) }),
    ],
    ['ERR_COUNT', (graph: TopologyCommunicator) => graph.neighborAlltoallv(new Int8Array(4), [1])],
    ['ERR_COUNT', (graph: TopologyCommunicator) => graph.neighborAlltoallv(new Int8Array(4), [4, 1])],
    ['ERR_COUNT', (graph: TopologyCommunicator) => graph.neighborAlltoallv(new Int8Array(4), [1, -1])],
    [
      'ERR_ARGUMENT',
      (graph: TopologyCommunicator) => graph.neighborAlltoall(new Int8Array(4), null as never),
    ],
  ] as const)('are refused with %s before anything is sent', (code, call) =>
    onRing(async (graph) => {
      await expect(call(graph)).rejects.toMatchObject({ code })
      expect((await graph.neighborAlltoall(new Int8Array(2))).length).toBe(2)
    }),
  )

  it('different lengths, or strategies, on different ranks are a mismatch', async () => {
    const main = (differ: (world: Communicator) => Promise<unknown>) =>
      run(differ, { ranks: 4, processes: 4 }).then(
        () => 'right',
        (error: unknown) => (isRankweaveError(error) ? error.code : String(error)),
      )
    const lengths = await main(async (world) => {
      const graph = await world.createTopology(ring(4))
      await graph.neighborAlltoall(new Int8Array(2 * (1 + (world.rank % 2))))
    })
    const chosen = await main(async (world) => {
      const strategy = { kind: world.rank === 2 ? 'routed' : 'direct' } as const
      const graph = await world.createTopology(ring(4), { strategy })
      await graph.neighborAlltoall(new Int8Array(2))
    })
    expect([lengths, chosen]).toEqual(['ERR_COLLECTIVE_MISMATCH', 'ERR_COLLECTIVE_MISMATCH'])
  })
})

it('blocks are exchanged where every process plans from neighbors alone, parallel edges in list order', async () => {
  const { ranks, outStart, outRank, inStart, inRank } = multigraph
  const main = async (world: Communicator) => {
    for (const strategy of strategies.slice(0, 2)) {
      const { rank } = world
      const graph = await world.createDistGraphAdjacent({
        sources: inRank.subarray(inStart[rank], inStart[rank + 1]),
        destinations: outRank.subarray(outStart[rank], outStart[rank + 1]),
        planFrom: 'neighbors',
        strategy,
      })
      const sent = rangeOf(outStart, rank)
      const got = await graph.neighborAlltoall(blocks(sent, () => 2))
      expect(got).toEqual(blocks(arrivingAt(multigraph, rank), () => 2))
      expect((await graph.neighborAllgather(Int8Array.of(rank))).length).toBe(graph.sources.length)
    }
  }
  await run(main, { ranks, fabric: local({ ranksPerProcess: [3, 0, 4], seed: 9 }) })
})
