import fc from 'fast-check'
import { type NeighborSchedule, parseStrategy, planStatistics, type Strategy } from 'rankweave/schedule'
import { expect, test } from 'vitest'
import { cluster } from '../../src/machine/machine.js'
import type { MapSource } from '../../src/neighborhood/choose/mapped-topology.js'
import { reportedPlan } from '../../src/neighborhood/choose/plan-request.js'
import type { ProcessTopology } from '../../src/topology/process-topology.js'
import { cases } from '../support/soak.js'
import { smallTopologies } from './random-topology.js'

const strategies: readonly Strategy[] = [
  { kind: 'direct' },
  { kind: 'common-neighbor', k: 2, mode: 'aware' },
  { kind: 'common-neighbor', k: 3, mode: 'agnostic' },
  parseStrategy('routed'),
]

const problems = smallTopologies(16).chain(({ what, topology }) =>
  fc.record({
    what: fc.constant(what),
    topology: fc.constant(topology),
    strategy: fc.constantFrom(...strategies),
    cores: fc.integer({ min: 1, max: 5 }),
    seed: fc.integer({ min: 0, max: 2 ** 32 - 1 }),
  }),
)

const machineFor = ({ ranks }: ProcessTopology, cores: number) =>
  cluster({ nodes: Math.ceil(ranks / cores), cores })

const planned = (topology: ProcessTopology, strategy: Strategy, map: MapSource | null, cores: number) =>
  reportedPlan(
    topology,
    { strategy, operation: 'neighbor-allgather', comparedBytes: null, map },
    machineFor(topology, cores),
  )

test('auto plans as many direct messages between nodes as its mapping has edges there, and no more pairs', async () => {
  await fc.assert(
    fc.asyncProperty(problems, async ({ topology, cores }) => {
      const auto = await planned(topology, { kind: 'direct' }, 'auto', cores)
      const given = await planned(topology, { kind: 'direct' }, null, cores)
      const { before, after, isMapped, topology: hash, planned: plannedHash } = auto.mapping!
      const between = ({ plan, nodes }: typeof auto) => planStatistics(plan, nodes).messages.interNode
      expect([between(given), between(auto)]).toEqual([before.edges, after.edges])
      expect(after.pairs).toBeLessThanOrEqual(before.pairs)
      if (!isMapped) expect([auto.topology, plannedHash, after]).toEqual([topology, hash, before])
      expect((auto.plan.schedule as NeighborSchedule).topology).toBe(auto.topology)
      expect(given.mapping).toBeNull()
    }),
    { numRuns: cases(60) },
  )
})
