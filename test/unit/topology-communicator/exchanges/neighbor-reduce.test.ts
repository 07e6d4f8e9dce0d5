import { describe, expect, it } from 'vitest'
import type { Communicator } from '../../../../src/comm/communicator.js'
import { isRankweaveError } from '../../../../src/errors.js'
import { local } from '../../../../src/fabric/local/local.js'
import { run } from '../../../../src/launch/run.js'
import { createOperation } from '../../../../src/messages/datatype/operation.js'
import type { Strategy } from '../../../../src/neighborhood/strategies/strategy.js'
import { inNeighbors, outNeighbors } from '../../../../src/topology/neighbors.js'
import { topologyFromEdges } from '../../../../src/topology/topology-builders.js'
import { installNeighborhood } from '../../../../src/topology-communicator/install.js'

installNeighborhood()

const strategies: readonly Strategy[] = [
  { kind: 'direct' },
  { kind: 'common-neighbor', k: 2, mode: 'agnostic', theta: 0 },
  { kind: 'routed' },
]
/**
 * Self loops, parallel edges, a rank that only receives (4), one that only sends (5), and one without
 * neighbors (6).
 */
const topology = topologyFromEdges(7, {
  sources: [0, 1, 0, 2, 2, 0, 1, 3, 0, 1, 5, 5, 3, 4],
  destinations: [1, 1, 1, 0, 2, 3, 1, 0, 1, 4, 4, 2, 4, 4],
})
const { ranks } = topology
const placements = [[7], [3, 0, 4], [1, 1, 1, 1, 1, 1, 1]]

/** Affine maps, composed from left to right: associative, not commutative. */
const compose = createOperation<Int32Array>(
  (left, right) => Int32Array.of((left[0] * right[0]) % 1009, (left[1] * right[0] + right[1]) % 1009),
  { name: 'compose' },
)
const mapOf = (rank: number): Int32Array => Int32Array.of(rank + 2, 5 * rank + 1)

describe.each(strategies.map((strategy) => [JSON.stringify(strategy), strategy] as const))(
  'neighborReduce by %s',
  (_, strategy) => {
    it.each(placements)(
      'combines the blocks of the sources, each as often as it is listed: %j',
      async (...placement) => {
        const main = async (world: Communicator) => {
          const graph = await world.createTopology(topology, { strategy })
          const sources = [...graph.sources]
          const hasSources = sources.length > 0
          const sum = sources.reduce((total, source) => total + source + 1, 0)
          const data = Int32Array.of(world.rank + 1, -world.rank - 1, 0)
          const expected = hasSources ? Int32Array.of(sum, -sum, 0) : null
          expect(await graph.neighborReduce(data, 'sum')).toEqual(expected)
          expect(await graph.ineighborReduce(data, 'sum').wait()).toEqual(expected)

          // Rounded at every step: only one order gives these bits.
          const halves = sources.map((source) => 1 / (source + 3))
          const third = Float64Array.of(1 / (world.rank + 3))
          const rounded = await graph.neighborReduce(third, 'sum')
          expect(rounded).toEqual(hasSources ? Float64Array.of(halves.reduce((a, b) => a + b)) : null)
          const close = await graph.neighborReduce(third, 'sum', { order: 'any' })
          if (hasSources) expect(close![0]).toBeCloseTo(rounded![0], 12)

          const composed = await graph.neighborReduce(mapOf(world.rank), compose)
          const inOrder = sources.map(mapOf)
          expect(composed).toEqual(
            hasSources ? inOrder.reduce((left, right) => compose.combine(left, right)!) : null,
          )

          const recv = new Int32Array(3).fill(7)
          const request = graph.neighborReduceInit(data, recv, 'max')
          for (let start = 0; start < 3; start++) {
            data[2] = world.rank + start
            await request.start()
            const most = Math.max(...sources) + start
            expect(recv[2]).toBe(hasSources ? most : 7)
          }
          request.free()
          await graph.free()
        }
        await run(main, { ranks, fabric: local({ ranksPerProcess: [...placement], seed: 6 }) })
      },
    )
  },
)

it('neighborReduce combines in list order where every process plans from neighbors alone', async () => {
  const main = async (world: Communicator) => {
    const graph = await world.createDistGraphAdjacent({
      sources: inNeighbors(topology, world.rank),
      destinations: outNeighbors(topology, world.rank),
      planFrom: 'neighbors',
      strategy: { kind: 'common-neighbor', k: 2, mode: 'agnostic', theta: 0 },
    })
    const sources = [...graph.sources]
    const sum = sources.length === 0 ? null : Int32Array.of(sources.reduce((a, b) => a + b))
    expect(await graph.neighborReduce(Int32Array.of(world.rank), 'sum')).toEqual(sum)
    const inOrder = sources.map(mapOf)
    expect(await graph.neighborReduce(mapOf(world.rank), compose)).toEqual(
      sources.length === 0 ? null : inOrder.reduce((left, right) => compose.combine(left, right)!),
    )
  }
  await run(main, { ranks, fabric: local({ ranksPerProcess: [3, 0, 4], seed: 8 }) })
})

it.each([
  ['operations', (rank: number) => [Int32Array.of(1), rank === 1 ? 'sum' : 'max', {}]],
  ['lengths', (rank: number) => [new Int32Array(rank === 1 ? 2 : 1), 'sum', {}]],
  ['orders', (rank: number) => [Float64Array.of(1), 'sum', rank === 1 ? { order: 'any' } : {}]],
] as const)('neighborReduce with different %s on different ranks is a mismatch', async (_, argumentsOf) => {
  const main = async (world: Communicator) => {
    const graph = await world.createTopology(topology, { strategy: { kind: 'routed' } })
    await graph.neighborReduce(...(argumentsOf(world.rank) as unknown as [Int32Array, 'sum']))
  }
  const outcome = await run(main, { ranks, processes: 7 }).then(
    () => 'right',
    (error: unknown) => (isRankweaveError(error) ? error.code : String(error)),
  )
  expect(outcome).toBe('ERR_COLLECTIVE_MISMATCH')
})

it('neighborReduce refuses arguments before anything is sent', async () => {
  const main = async (world: Communicator) => {
    const graph = await world.createTopology(topology)
    const data = Float64Array.of(1)
    const codeOf = (call: Promise<unknown>) => call.catch((error: { code: string }) => error.code)
    expect(await codeOf(graph.neighborReduce(data, 'band' as never))).toBe('ERR_OP')
    expect(await codeOf(graph.neighborReduce('text' as never, 'sum' as never))).toBe('ERR_TYPE')
    expect(await codeOf(graph.neighborReduce(data, 'sum', { order: 'some' as never }))).toBe('ERR_ARGUMENT')
    expect(await codeOf(graph.neighborReduce(data, 'sum', { into: new Int8Array(1) as never }))).toBe(
      'ERR_TYPE_MISMATCH',
    )
  }
  await run(main, { ranks, processes: 2 })
})
