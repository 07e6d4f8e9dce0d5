import { type Communicator, local, run } from 'rankweave'
import { expect, it } from 'vitest'
import type { Strategy } from '../../../../src/neighborhood/strategies/strategies.js'
import { topologyFromEdges } from '../../../../src/topology/topology-builders.js'
import { codeOf, onRanks } from '../../../support/on-ranks.js'

/**
 * Self loops, parallel edges, a rank that only receives (4), one that only sends (5), and one without
 * neighbors (6).
 */
const topology = topologyFromEdges(7, {
  sources: [0, 1, 0, 2, 2, 0, 1, 3, 0, 1, 5, 5, 3, 4],
  destinations: [1, 1, 1, 0, 2, 3, 1, 0, 1, 4, 4, 2, 4, 4],
})
const { ranks } = topology

it.each<Strategy>([
  { kind: 'direct' },
  { kind: 'common-neighbor', k: 2, mode: 'agnostic', theta: 0 },
  { kind: 'routed' },
])('neighborReduce combines blocks in the order of the sources unless any will do: %j', async (strategy) => {
  const fabric = local({ ranksPerProcess: [3, 0, 4], seed: 6 })
  await onRanks({ ranks, fabric }, async (world) => {
    const graph = await world.createTopology(topology, { strategy })
    const sources = [...graph.sources]
    const third = Float64Array.of(1 / (world.rank + 3))
    const any = await graph.neighborReduce(third, 'sum', { order: 'any' })
    // Rounded at every step: only one order gives these bits.
    const sum = sources.map((source) => 1 / (source + 3)).reduce((a, b) => a + b, 0)
    const rounded = await graph.neighborReduce(third, 'sum')
    expect(rounded).toEqual(sources.length > 0 ? Float64Array.of(sum) : null)
    if (sources.length > 0) expect(any![0]).toBeCloseTo(sum, 12)
  })
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
  expect(await codeOf(run(main, { ranks, processes: 7 }))).toBe('ERR_COLLECTIVE_MISMATCH')
})

it('neighborReduce refuses arguments before anything is sent', async () => {
  const main = async (world: Communicator) => {
    const graph = await world.createTopology(topology)
    const data = Float64Array.of(1)
    expect(await codeOf(graph.neighborReduce(data, 'band' as never))).toBe('ERR_OP')
    expect(await codeOf(graph.neighborReduce('text' as never, 'sum' as never))).toBe('ERR_TYPE')
    expect(await codeOf(graph.neighborReduce(data, 'sum', { order: 'some' as never }))).toBe('ERR_ARGUMENT')
    const into = new Int8Array(1) as never
    expect(await codeOf(graph.neighborReduce(data, 'sum', { into }))).toBe('ERR_TYPE_MISMATCH')
  }
  await run(main, { ranks, processes: 2 })
})
