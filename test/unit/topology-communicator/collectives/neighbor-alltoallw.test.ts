import { type Communicator, local, run, strided, type TopologyCommunicator, type TypedArray } from 'rankweave'
import { describe, expect, it } from 'vitest'
import { codeOf, onRanks } from '../../../support/on-ranks.js'

const makers = [Float64Array, Int16Array, Uint8Array] as const

/** What a rank sends to the next but `distance - 1`: another type and length for every distance. */
const blockOf = (rank: number, distance: number): TypedArray =>
  new makers[distance % 3](distance + 1).fill(rank * 10 + distance)

/** Ranks send to the next three, and twice to the first of them. */
const distances = [1, 2, 1, 3]

async function circulant(world: Communicator, kind: 'direct' | 'routed'): Promise<TopologyCommunicator> {
  const { rank, size } = world
  return world.createDistGraphAdjacent({
    sources: distances.map((distance) => (rank - distance + size) % size),
    destinations: distances.map((distance) => (rank + distance) % size),
    strategy: { kind },
  })
}

describe.each(['direct', 'routed'] as const)('neighborAlltoallw by %s', (kind) => {
  const onCirculant = async (main: (graph: TopologyCommunicator) => Promise<void>): Promise<void> => {
    const fabric = local({ ranksPerProcess: [2, 1, 3, 1], seed: 3 })
    await run(async (world: Communicator) => main(await circulant(world, kind)), { ranks: 7, fabric })
  }

  it('brings every block in an array of its type, or in the buffer for it', () =>
    onCirculant(async (graph) => {
      const { rank, size } = graph
      const data = distances.map((distance) => blockOf(rank, distance))
      const expected = distances.map((distance) => blockOf((rank - distance + size) % size, distance))
      expect(await graph.neighborAlltoallw(data)).toEqual(expected)
      expect(await graph.ineighborAlltoallw(data).wait()).toEqual(expected)
      const matrix = new Int16Array(6).fill(-1)
      const column = strided(matrix, { offset: 0, count: 2, blockLength: 1, stride: 3 })
      const into = [column, new Uint8Array(3), new Int16Array(2), new Float64Array(4)]
      const filled = await graph.neighborAlltoallw(data, { into })
      expect(filled).toEqual(into)
      expect(filled[0]).toBe(column)
      expect([...matrix]).toEqual([expected[0][0], -1, -1, expected[0][1], -1, -1])
      expect(into.slice(1)).toEqual(expected.slice(1))
    }))

  it('bound to its buffers reads and fills them at every start', () =>
    onCirculant(async (graph) => {
      const { rank, size } = graph
      const matrix = new Int16Array(4)
      const sent = [
        strided(matrix, { offset: 1, count: 2, blockLength: 1, stride: 2 }),
        new Uint8Array(1),
        new Int16Array(2),
        new Float64Array(1),
      ]
      const into = [new Int16Array(2), new Uint8Array(1), new Int16Array(2), new Float64Array(1)]
      const request = graph.neighborAlltoallwInit(sent, into)
      for (let start = 1; start <= 3; start++) {
        matrix.fill(rank + 10 * start)
        for (const array of sent.slice(1)) (array as Int16Array).fill(rank + 10 * start)
        await request.start()
        expect(into.map((array) => array[0])).toEqual(
          distances.map((distance) => ((rank - distance + size) % size) + 10 * start),
        )
      }
      request.free()
    }))
})

it('neighborAlltoallw refuses what does not fit, on that rank alone once blocks have arrived', async () => {
  const main = async (world: Communicator) => {
    const graph = await circulant(world, 'routed')
    const data = distances.map((distance) => blockOf(world.rank, distance))
    const outcomes = [
      await codeOf(graph.neighborAlltoallw(data.slice(1))),
      await codeOf(graph.neighborAlltoallw([...data.slice(1), 'text' as never])),
      await codeOf(graph.neighborAlltoallw(data, { into: [] })),
    ]
    const buffers = [new Int16Array(2), new Uint8Array(3), new Int16Array(2), new Float64Array(4)]
    for (const wrong of [new Int8Array(2), new Int16Array(1), new Int16Array(3)]) {
      const into = world.rank === 2 ? [wrong, ...buffers.slice(1)] : buffers
      outcomes.push(await codeOf(graph.neighborAlltoallw(data, { into })))
    }
    return outcomes
  }
  const outcomes = await run(main, { ranks: 7, processes: 3 })
  for (const [rank, [short, type, empty, ...fits]] of outcomes.entries()) {
    expect([short, type, empty]).toEqual(['ERR_COUNT', 'ERR_TYPE', 'ERR_COUNT'])
    const wrong = ['ERR_TYPE_MISMATCH', 'ERR_TRUNCATE', 'ERR_COUNT']
    expect(fits).toEqual(rank === 2 ? wrong : ['none', 'none', 'none'])
  }
})

it('neighborAlltoallw passes over the entries of a grid that have no neighbor', async () => {
  const main = async (world: Communicator) => {
    const line = (await world.createCart([3]))!
    const data = [0, 1].map((slot) => (line.destinations[slot] < 0 ? null : Int8Array.of(line.rank, slot)))
    const expected = [...line.sources].map((source, slot) =>
      source < 0 ? null : Int8Array.of(source, slot ^ 1),
    )
    expect(await line.neighborAlltoallw(data)).toEqual(expected)
  }
  await run(main, { ranks: 3, processes: 2 })
})

it('an alltoallw keeps the buffers that were in its lists when it was called', () =>
  onRanks({ ranks: 2, processes: 2 }, async (world) => {
    const { rank } = world
    const ring = await world.createDistGraphAdjacent({ sources: [1 - rank], destinations: [1 - rank] })
    const [data, into] = [Int32Array.of(rank), new Int32Array(1)]
    const [send, recv] = [[data], [into]]
    const request = ring.neighborAlltoallwInit(send, recv)
    const called = ring.neighborAlltoallw(send, { into: recv })
    send[0] = Int32Array.of(99)
    recv[0] = new Int32Array(7)
    const [got] = await called
    expect([...into, ...(got as Int32Array)]).toEqual([1 - rank, 1 - rank])
    data[0] = 10 + rank
    await request.start()
    expect([...into]).toEqual([11 - rank])
    request.free()
  }))
