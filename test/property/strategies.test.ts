import fc from 'fast-check'
import { plan, planStatistics, type Strategy } from 'rankweave/schedule'
import { expect, test } from 'vitest'
import { cases } from '../support/soak.js'
import { outSets } from './grouping-oracle.js'
import { nodesFor, smallTopologies } from './random-topology.js'

const strategies: fc.Arbitrary<Strategy> = fc.oneof(fc.constant({ kind: 'direct' as const }), {
  weight: 6,
  arbitrary: fc.record({
    kind: fc.constant('common-neighbor' as const),
    k: fc.constantFrom(2, 3, 4, 5),
    mode: fc.constantFrom('agnostic' as const, 'aware' as const),
    theta: fc.integer({ min: 0, max: 4 }),
    dedupe: fc.boolean(),
    elide: fc.boolean(),
  }),
})

const plans = smallTopologies(16).chain(({ what, topology }) =>
  fc.record({
    what: fc.constant(what),
    topology: fc.constant(topology),
    strategy: strategies,
    nodeOf: nodesFor(topology.ranks),
  }),
)

test('messages and volume equal the cost of the groups', () => {
  fc.assert(
    fc.property(plans, ({ topology, strategy, nodeOf }) => {
      fc.pre(strategy.kind === 'common-neighbor')
      const edges = outSets(topology).reduce((sum, row) => sum + row.size, 0)
      const printed = plan(topology, { ...strategy, dedupe: false, elide: false }, { nodeOf })
      const { groups } = printed
      if (groups === null) throw new Error('a common-neighbor plan has groups')
      const { k, count, commonStart, direct } = groups
      let exchanges = 0
      for (let g = 0; g < count; g++) {
        // Members without a part get no exchange; from the default threshold on all have one.
        exchanges += (k - 1) * Math.min(k, commonStart[g + 1] - commonStart[g])
      }
      const statistics = planStatistics(printed, nodeOf)
      expect(statistics.messages.direct).toBe(edges)
      expect(k * groups.common.length + direct.length).toBe(edges)
      expect(statistics.messages.planned).toBe(exchanges + groups.common.length + direct.length)
      expect(statistics.volumeBlocks).toBe(edges + exchanges)

      const both = planStatistics(plan(topology, strategy, { nodeOf }))
      expect(both.messages.planned).toBeLessThanOrEqual(statistics.messages.planned)
    }),
    { numRuns: cases(500) },
  )
})

test('in aware mode combining does not change the blocks between nodes', () => {
  fc.assert(
    fc.property(plans, ({ topology, strategy, nodeOf }) => {
      fc.pre(strategy.kind === 'common-neighbor')
      const combined = plan(topology, { ...strategy, mode: 'aware' }, { nodeOf })
      expect(blocksBetweenNodes(combined.schedule, nodeOf)).toBe(
        blocksBetweenNodes(plan(topology, { kind: 'direct' }).schedule, nodeOf),
      )
    }),
    { numRuns: cases(500) },
  )
})

function blocksBetweenNodes(
  { opStart, opKind, opPeer, entryStart, topology }: ReturnType<typeof plan>['schedule'],
  nodeOf: Int32Array,
): number {
  let blocks = 0
  for (let rank = 0; rank < topology.ranks; rank++) {
    for (let op = opStart[rank]; op < opStart[rank + 1]; op++) {
      if (opKind[op] === 0 && nodeOf[opPeer[op]] !== nodeOf[rank])
        blocks += entryStart[op + 1] - entryStart[op]
    }
  }
  return blocks
}
