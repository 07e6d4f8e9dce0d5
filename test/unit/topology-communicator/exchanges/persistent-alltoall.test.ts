import { describe, expect, it } from 'vitest'
import type { Communicator } from '../../../../src/comm/communicator.js'
import { local } from '../../../../src/fabric/local/local.js'
import { run } from '../../../../src/launch/run.js'
import type { TypedArray } from '../../../../src/messages/datatype/elements.js'
import { strided } from '../../../../src/messages/datatype/strided-view.js'
import type { Strategy } from '../../../../src/neighborhood/strategies/strategy.js'
import { inNeighbors, outNeighbors } from '../../../../src/topology/neighbors.js'
import { topologyFromEdges } from '../../../../src/topology/topology-builders.js'
import { installNeighborhood } from '../../../../src/topology-communicator/install.js'
import type { TopologyCommunicator } from '../../../../src/topology-communicator/topology-communicator.js'
import { onRanks } from '../../../support/on-ranks.js'

installNeighborhood()

/** Rank 4 only receives, rank 5 only sends, rank 6 does neither; a self loop and parallel edges. */
const topology = topologyFromEdges(7, {
  sources: [0, 0, 1, 1, 1, 2, 3, 3, 5, 5, 0],
  destinations: [1, 4, 4, 4, 0, 2, 4, 1, 3, 0, 3],
})
/** Rank 4 alone in a process: none of its ranks knows how long blocks are. */
const fabric = local({ ranksPerProcess: [4, 1, 2], seed: 3 })

const strategies: readonly Strategy[] = [{ kind: 'direct' }, { kind: 'routed' }, { kind: 'lanes' }]
const creations = [
  ...strategies.map(
    (strategy) =>
      [strategy.kind, (world: Communicator) => world.createTopology(topology, { strategy })] as const,
  ),
  [
    'planned from neighbors',
    (world: Communicator) =>
      world.createDistGraphAdjacent({
        sources: inNeighbors(topology, world.rank),
        destinations: outNeighbors(topology, world.rank),
        planFrom: 'neighbors',
      }),
  ] as const,
]

/** The number of an edge among those of the same two ranks, in the order of either list. */
const places = (list: Int32Array) =>
  Array.from(list, (rank, i) => (list.subarray(0, i).indexOf(rank) < 0 ? 0 : 1))
/** Elements of an edge: who sends, who receives, which of their edges it is, and in which start. */
const block = (from: number, to: number, nth: number, start: number, length: number) =>
  new Array<number>(length).fill(1000 * start + 100 * from + 10 * to + nth)

function sent(
  { rank, destinations }: TopologyCommunicator,
  start: number,
  lengthOf: (edge: number) => number,
) {
  const nth = places(destinations)
  return [...destinations].map((to, i) => block(rank, to, nth[i], start, lengthOf(10 * rank + to)))
}

function expected(
  { rank, sources }: TopologyCommunicator,
  start: number,
  lengthOf: (edge: number) => number,
) {
  const nth = places(sources)
  return [...sources].map((from, i) => block(from, rank, nth[i], start, lengthOf(10 * from + rank)))
}

describe.each(creations)('persistent alltoalls: %s', (_, create) => {
  it('send what their buffers hold at every start', () =>
    onRanks({ ranks: 7, fabric }, async (world) => {
      const graph = await create(world)
      for (const length of [0, 1, 3]) {
        const send = new Float64Array(length * graph.destinations.length)
        const recv = new Float64Array(length * graph.sources.length + 1).fill(-1)
        const request = graph.neighborAlltoallInit(send, recv)
        for (let start = 0; start < 3; start++) {
          send.set(sent(graph, start, () => length).flat())
          await request.start()
          expect([...recv]).toEqual([...expected(graph, start, () => length).flat(), -1])
        }
        request.free()
      }
      const lengthOf = (edge: number) => edge % 3
      const counts = sent(graph, 0, lengthOf).map((each) => each.length)
      const send = new Int16Array(sent(graph, 0, lengthOf).flat().length)
      const recv = new Int16Array(expected(graph, 0, lengthOf).flat().length)
      const request = graph.neighborAlltoallvInit(send, counts, recv)
      for (let start = 0; start < 3; start++) {
        send.set(sent(graph, start, lengthOf).flat())
        await request.start()
        expect([...recv]).toEqual(expected(graph, start, lengthOf).flat())
      }
    }))

  it('of blocks of any types fill arrays and strided views', () =>
    onRanks({ ranks: 7, fabric }, async (world) => {
      const graph = await create(world)
      const types = [Float64Array, Uint8Array, Int32Array] as const
      const lengthOf = (edge: number) => edge % 4
      const edges = { sent: [...graph.destinations].map((to) => 10 * graph.rank + to) }
      const newArray = (edge: number): TypedArray => new types[edge % 3](lengthOf(edge))
      const send = edges.sent.map(newArray)
      const columns = [...graph.sources].map((from) => {
        const edge = 10 * from + graph.rank
        const matrix = new types[edge % 3](2 * lengthOf(edge))
        return strided(matrix as TypedArray, {
          offset: 0,
          count: lengthOf(edge),
          blockLength: 1,
          stride: 2,
        })
      })
      const recv = columns.map((column, i) =>
        i % 2 === 0 ? column : newArray(10 * graph.sources[i] + graph.rank),
      )
      const request = graph.neighborAlltoallwInit(send, recv)
      for (let start = 0; start < 3; start++) {
        const values = sent(graph, start % 2, lengthOf)
        for (const [i, array] of send.entries()) array.set(values[i].map((value) => value % 251) as never)
        await request.start()
        for (const [i, values] of expected(graph, start % 2, lengthOf).entries()) {
          const into = recv[i]
          const got = 'array' in into ? [...into.array].filter((_, at) => at % 2 === 0) : [...into]
          expect(got).toEqual(values.map((value) => value % 251))
        }
      }
    }))

  it('fail at every start on ranks whose buffers do not fit what comes, and not elsewhere', () =>
    onRanks({ ranks: 7, fabric }, async (world) => {
      const graph = await create(world)
      const send = Int32Array.from(graph.destinations)
      const room = graph.rank === 4 ? 1 : graph.sources.length
      const requests = [
        graph.neighborAlltoallInit(send, new Int32Array(room)),
        graph.neighborAlltoallvInit(
          send,
          [...send].map(() => 1),
          new Int32Array(room),
        ),
        graph.neighborAlltoallwInit(
          [...send].map((to) => Int32Array.of(to)),
          [...graph.sources].map((from) => new Int32Array(graph.rank === 4 && from === 0 ? 2 : 1)),
        ),
      ]
      const codes = []
      for (const request of requests) {
        for (let start = 0; start < 2; start++) {
          codes.push(
            await request.start().then(
              () => 'right',
              ({ code }) => code,
            ),
          )
        }
      }
      const misfits = [
        'ERR_TRUNCATE',
        'ERR_TRUNCATE',
        'ERR_TRUNCATE',
        'ERR_TRUNCATE',
        'ERR_COUNT',
        'ERR_COUNT',
      ]
      expect(codes).toEqual(graph.rank === 4 ? misfits : misfits.map(() => 'right'))
    }))
})

it('blocks of which only their receivers know that they differ in length are a mismatch', async () => {
  const star = topologyFromEdges(3, { sources: [0, 1], destinations: [2, 2] })
  const main = async (world: Communicator) => {
    const graph = await world.createTopology(star)
    await graph.neighborAlltoall(new Int32Array(world.rank === 2 ? 0 : 1 + world.rank))
  }
  await expect(run(main, { ranks: 3, processes: 3 })).rejects.toMatchObject({
    code: 'ERR_COLLECTIVE_MISMATCH',
  })
})

it('an alltoallw keeps the buffers that were in its lists when it was called', () =>
  onRanks({ ranks: 2, processes: 2 }, async (world) => {
    const ring = await world.createTopology(topologyFromEdges(2, { sources: [0, 1], destinations: [1, 0] }))
    const [send, recv] = [[Int32Array.of(ring.rank)], [new Int32Array(1)]]
    const [data, into] = [send[0], recv[0]]
    const [request, called] = [
      ring.neighborAlltoallwInit(send, recv),
      ring.neighborAlltoallw(send, { into: recv }),
    ]
    send[0] = Int32Array.of(99)
    recv[0] = new Int32Array(7)
    const got = (await called)[0] as Int32Array
    expect([...into, ...got]).toEqual([1 - ring.rank, 1 - ring.rank])
    data[0] = 10 + ring.rank
    await request.start()
    expect([...into]).toEqual([11 - ring.rank])
    request.free()
  }))
