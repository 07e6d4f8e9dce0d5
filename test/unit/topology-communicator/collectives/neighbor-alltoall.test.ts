import { type Communicator, local, run, strided, type TopologyCommunicator } from 'rankweave'
import { inNeighbors, outNeighbors, topologyFromEdges } from 'rankweave/topology'
import { describe, expect, it } from 'vitest'
import type { Strategy } from '../../../../src/neighborhood/strategies/strategies.js'
import { codeOf, onRanks } from '../../../support/on-ranks.js'

const strategies: readonly Strategy[] = [
  { kind: 'direct' },
  { kind: 'common-neighbor', k: 2, mode: 'agnostic', theta: 0 },
  { kind: 'routed', radices: [3, 3, 2], first: 'highest' },
]

it.each(strategies)(
  'block s pairs with slot s ^ 1 on a grid, and slots without a neighbor stay as they are: %j',
  async (strategy) => {
    const fabric = local({ ranksPerProcess: [2, 1, 3], seed: 2 })
    await onRanks({ ranks: 6, fabric }, async (world) => {
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
      expect([...varied.data]).toEqual(lengths.flatMap((length, slot) => Array(length).fill(expected[slot])))
    })
  },
)

/** Rank 4 only receives, rank 5 only sends, rank 6 does neither; a self loop and parallel edges. */
const topology = topologyFromEdges(7, {
  sources: [0, 0, 1, 1, 1, 2, 3, 3, 5, 5, 0],
  destinations: [1, 4, 4, 4, 0, 2, 4, 1, 3, 0, 3],
})
const creations: readonly (readonly [string, (world: Communicator) => Promise<TopologyCommunicator>])[] = [
  ...(['direct', 'routed', 'lanes'] as const).map(
    (kind) =>
      [kind, (world: Communicator) => world.createTopology(topology, { strategy: { kind } })] as const,
  ),
  [
    'planned from neighbors',
    (world) =>
      world.createDistGraphAdjacent({
        sources: inNeighbors(topology, world.rank),
        destinations: outNeighbors(topology, world.rank),
        planFrom: 'neighbors',
      }),
  ],
]

it.each(creations)(
  'persistent alltoalls fail at every start on ranks whose buffers do not fit what comes, and nowhere else: %s',
  async (_, create) => {
    // Rank 4 alone in a process: none of its ranks knows how long blocks are.
    const fabric = local({ ranksPerProcess: [4, 1, 2], seed: 3 })
    await onRanks({ ranks: 7, fabric }, async (world) => {
      const graph = await create(world)
      const { rank } = graph
      const sources = [...graph.sources]
      const send = Int32Array.from(graph.destinations, (to) => 10 * rank + to)
      const counts = [...send].map(() => 1)
      const recv = new Int32Array(sources.length)
      const room = new Int32Array(rank === 4 ? 1 : sources.length)
      const blocks = sources.map((from) => new Int32Array(rank === 4 && from === 0 ? 2 : 1))
      const requests = [
        graph.neighborAlltoallInit(send, recv),
        graph.neighborAlltoallInit(send, room),
        graph.neighborAlltoallvInit(send, counts, room),
        graph.neighborAlltoallwInit(
          [...send].map((each) => Int32Array.of(each)),
          blocks,
        ),
      ]
      const codes: string[] = []
      for (const request of requests)
        for (let start = 0; start < 2; start++) codes.push(await codeOf(request.start()))
      expect([...recv]).toEqual(sources.map((from) => 10 * from + rank))
      const [fits, short, odd] = ['none', 'ERR_TRUNCATE', 'ERR_COUNT']
      const misfits = [fits, fits, short, short, short, short, odd, odd]
      expect(codes).toEqual(rank === 4 ? misfits : misfits.map(() => fits))
    })
  },
)

/** Ranks that exchange with the next in both directions. */
const everyRank = [0, 1, 2, 3]
const ring = topologyFromEdges(4, {
  sources: [...everyRank, ...everyRank],
  destinations: [...everyRank.map((r) => (r + 1) % 4), ...everyRank.map((r) => (r + 3) % 4)],
})
const onRing = (main: (graph: TopologyCommunicator) => Promise<void>) =>
  onRanks({ ranks: 4, processes: 2 }, async (world) => main(await world.createTopology(ring)))

describe('arguments of neighborAlltoall', () => {
  it('are strided views too, and what is filled may be what is sent', () =>
    onRing(async (graph) => {
      const matrix = Float64Array.from({ length: 6 }, (_, i) => graph.rank * 100 + i)
      const column = strided(matrix, { offset: 1, count: 2, blockLength: 1, stride: 3 })
      const fresh = await graph.neighborAlltoall(column)
      const data = Float64Array.of(matrix[1], matrix[4])
      expect(await graph.neighborAlltoall(data, { into: data })).toEqual(fresh)
      expect([...fresh].map((value) => Math.floor(value / 100))).toEqual([...graph.sources])
    }))

  it('are refused before anything is sent', () =>
    onRing(async (graph) => {
      const refused: [code: string, call: Promise<unknown>][] = [
        ['ERR_COUNT', graph.neighborAlltoall(new Int8Array(3))],
        ['ERR_TYPE', graph.neighborAlltoall('ab' as never)],
        ['ERR_TRUNCATE', graph.neighborAlltoall(new Int8Array(4), { into: new Int8Array(3) })],
        ['ERR_COUNT', graph.neighborAlltoallv(new Int8Array(4), [1])],
        ['ERR_COUNT', graph.neighborAlltoallv(new Int8Array(4), [4, 1])],
        ['ERR_COUNT', graph.neighborAlltoallv(new Int8Array(4), [1, -1])],
      ]
      for (const [code, call] of refused) expect(await codeOf(call)).toBe(code)
      expect((await graph.neighborAlltoall(new Int8Array(2))).length).toBe(2)
    }))

  it.each<[string, (world: Communicator) => Promise<unknown>]>([
    [
      'lengths',
      async (world) =>
        (await world.createTopology(ring)).neighborAlltoall(new Int8Array(2 * (1 + (world.rank % 2)))),
    ],
    [
      'lengths, which only a receiver knows',
      async (world) => {
        const star = topologyFromEdges(4, { sources: [0, 1], destinations: [2, 2] })
        const graph = await world.createTopology(star)
        return graph.neighborAlltoall(new Int32Array(world.rank < 2 ? 1 + world.rank : 0))
      },
    ],
    [
      'strategies',
      async (world) => {
        const strategy = { kind: world.rank === 2 ? 'routed' : 'direct' } as const
        return (await world.createTopology(ring, { strategy })).neighborAlltoall(new Int8Array(2))
      },
    ],
  ])('are a mismatch where ranks have different %s', async (_, main) => {
    expect(await codeOf(run(main, { ranks: 4, processes: 4 }))).toBe('ERR_COLLECTIVE_MISMATCH')
  })
})
