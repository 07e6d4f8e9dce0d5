import fc from 'fast-check'
import { plan } from '../../src/neighborhood/plan/plan.js'
import type { Strategy } from '../../src/neighborhood/strategies/strategies.js'
import type { NeighborSchedule } from '../../src/schedule/ir.js'
import { multigraphs, topologyOf } from './multigraphs.js'

const strategies: fc.Arbitrary<Strategy> = fc.oneof(
  { weight: 1, arbitrary: fc.constant<Strategy>({ kind: 'direct' }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('common-neighbor' as const),
      k: fc.constantFrom(2, 3, 4),
      mode: fc.constantFrom('agnostic' as const, 'aware' as const),
      theta: fc.constantFrom(0, 1, 2),
      dedupe: fc.boolean(),
      elide: fc.boolean(),
    }),
  },
)

/** Plans of random multigraphs, some of them dense enough for friends, by every strategy. */
export const plans: fc.Arbitrary<NeighborSchedule> = fc
  .record({
    graph: multigraphs,
    strategy: strategies,
    density: fc.double({ min: 0, max: 1, noNaN: true }),
    ranksPerNode: fc.integer({ min: 1, max: 6 }),
  })
  .chain(({ graph, ...others }) =>
    fc.record({
      graph: fc.constant(graph),
      others: fc.constant(others),
      draws: fc.array(fc.double({ min: 0, max: 1, noNaN: true }), {
        minLength: graph.ranks ** 2,
        maxLength: graph.ranks ** 2,
      }),
    }),
  )
  .map(({ graph: { ranks, edges }, others: { density, ranksPerNode, strategy }, draws }) => {
    const all = [...edges]
    draws.forEach((draw, i) => {
      if (draw < density) all.push([Math.floor(i / ranks), i % ranks, 1])
    })
    const topology = topologyOf({ ranks, edges: all })
    const nodeOf = Int32Array.from({ length: ranks }, (_, rank) => Math.floor(rank / ranksPerNode))
    return plan(topology, strategy, { nodeOf }).schedule
  })
