import fc from 'fast-check'
import { expect, test } from 'vitest'
import { drawnPermutation, mulberry32 } from '../../src/base/random.js'
import { cluster } from '../../src/machine/machine.js'
import type { MapSource } from '../../src/neighborhood/choose/mapped-topology.js'
import { reportedPlan } from '../../src/neighborhood/choose/plan-request.js'
import { planStatistics } from '../../src/neighborhood/plan/plan.js'
import type { Strategy } from '../../src/neighborhood/strategies/strategy.js'
import { parseStrategy } from '../../src/neighborhood/strategies/strategy-text.js'
import type { NeighborSchedule } from '../../src/schedule/ir.js'
import { lower } from '../../src/schedule/lower/lower.js'
import { mappingText } from '../../src/topology/mapping/mapping-file.js'
import type { ProcessTopology } from '../../src/topology/process-topology.js'
import { interpret } from '../support/lowered-interpreter.js'
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

test('a plan on given slots verifies, and brings every vertex the blocks of its sources in their order', async () => {
  await fc.assert(
    fc.asyncProperty(problems, async ({ what, topology, strategy, cores, seed }) => {
      const { ranks, inStart, inRank } = topology
      const slotOf = drawnPermutation(mulberry32(seed), ranks)
      const text = [...mappingText(topology, { slotOf, cost: 0, identityCost: 0 }, 'pairs')].join('')
      const { plan, verification, mapping } = await planned(
        topology,
        strategy,
        { file: 'a.map', text },
        cores,
      )
      expect(verification.violations, what).toEqual([])
      expect(mapping).toMatchObject({ map: 'a.map', start: null, simulated: null })
      const placement = Int32Array.from({ length: ranks }, (_, rank) => rank)
      const run = interpret(
        lower(plan.schedule, placement),
        (rank) => `block of vertex ${slotOf.indexOf(rank)}`,
      )
      for (let v = 0; v < ranks; v++) {
        const sources = inRank.subarray(inStart[v], inStart[v + 1])
        const slots = Array.from(sources, (_, slot) => run.slots[slotOf[v]].get(slot))
        expect(slots).toEqual(Array.from(sources, (source) => `block of vertex ${source}`))
      }
    }),
    { numRuns: cases(300) },
  )
})

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
