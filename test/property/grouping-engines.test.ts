import fc from 'fast-check'
import { beforeAll, expect, test } from 'vitest'
import { defaultTheta, type GroupingEngine } from '../../src/topology/friends/grouping-options.js'
import { seededLabels } from '../../src/topology/friends/seeded-labels.js'
import { prepareEngine } from '../../src/topology/grouping/exact-round.js'
import { groupFriends } from '../../src/topology/grouping/group-friends.js'
import { simulateGrouping } from '../../src/topology/grouping/simulate-grouping.js'
import { topologyFromEdges } from '../../src/topology/topology-builders.js'
import { cases } from '../support/soak.js'
import {
  commonOf,
  groupExhaustively,
  heaviestGrouping,
  outSets,
  type PlainGroups,
  plainGroupsOf,
  sameNode,
} from './grouping-oracle.js'
import { nodesFor, smallTopologies } from './random-topology.js'

beforeAll(() => prepareEngine('exact'))

const configurations = smallTopologies(10).chain(({ what, topology }) =>
  fc.record({
    what: fc.constant(what),
    topology: fc.constant(topology),
    k: fc.constantFrom(2, 3, 4),
    mode: fc.constantFrom('agnostic' as const, 'aware' as const),
    nodeOf: nodesFor(topology.ranks),
    theta: fc.integer({ min: 0, max: 4 }),
    labelSeed: fc.option(fc.integer({ min: 0, max: 2 ** 32 - 1 }), { nil: undefined }),
  }),
)

type Configuration = typeof configurations extends fc.Arbitrary<infer C> ? C : never

const optionsOf = ({ topology: _, what: _what, labelSeed, ...rest }: Configuration) => ({
  ...rest,
  ...(labelSeed === undefined ? {} : { labelSeed }),
})
const found = (configuration: Configuration, engine: GroupingEngine) =>
  groupFriends(configuration.topology, { ...optionsOf(configuration), engine })

const weightOf = ({ groups }: PlainGroups, step: number): number =>
  groups.filter((group) => group.step === step).reduce((sum, { common }) => sum + common.length, 0)

test('permuted labels: greedy equals the exhaustive greedy in that order', () => {
  let different = 0
  fc.assert(
    fc.property(configurations, (configuration) => {
      const { topology, k, mode, nodeOf, theta, labelSeed = 7 } = configuration
      const nodes = mode === 'aware' ? nodeOf : null
      const labels = seededLabels(topology.ranks, labelSeed)
      const expected = groupExhaustively(topology, k, theta, nodes, labels)
      const grouping = plainGroupsOf(found({ ...configuration, labelSeed }, 'greedy'))
      expect(grouping).toEqual(expected)
      if (JSON.stringify(expected) !== JSON.stringify(groupExhaustively(topology, k, theta, nodes)))
        different++
    }),
    { numRuns: cases(500, 200) },
  )
  expect(different).toBeGreaterThan(5)
})

test('the distributed engine finds the groups of the greedy one', () => {
  let withGroups = 0
  fc.assert(
    fc.property(configurations, (configuration) => {
      const planned = found(configuration, 'greedy')
      const distributed = simulateGrouping(configuration.topology, optionsOf(configuration))
      expect({ ...distributed, timeMs: 0 }).toEqual({
        ...planned,
        timeMs: 0,
        engine: 'distributed',
        messages: expect.anything(),
        waves: expect.any(Array),
      })
      if (planned.count > 0) withGroups++
    }),
    { numRuns: cases(1_500, 500) },
  )
  expect(withGroups).toBeGreaterThan(50)
})

test.each(['improved', 'exact'] as const)(
  '%s: disjoint groups above the threshold, nothing left',
  (engine) => {
    fc.assert(
      fc.property(configurations, (configuration) => {
        const { topology, k, mode, nodeOf, theta } = configuration
        const grouping = found(configuration, engine)
        const { groups, direct } = plainGroupsOf(grouping)
        const out = outSets(topology)
        for (let step = 0; step < grouping.steps; step++) {
          const ofStep = groups.filter((group) => group.step === step)
          const members = ofStep.flatMap((group) => group.members)
          expect(new Set(members).size).toBe(members.length)
          for (const group of ofStep) {
            expect(group.members.length).toBe(k)
            expect(group.common).toEqual(commonOf(out, group.members))
            expect(group.common.length).toBeGreaterThan(theta)
            expect(sameNode(mode === 'aware' ? nodeOf : null, group.members)).toBe(true)
          }
          for (const group of ofStep)
            for (const p of group.members) for (const q of group.common) out[p].delete(q)
        }
        expect(direct).toEqual(out.map((row) => [...row].sort((a, b) => a - b)))
        expect(grouping.weight).toBe(groups.reduce((sum, { common }) => sum + common.length, 0))
      }),
      { numRuns: engine === 'exact' ? cases(60, 20) : cases(500, 200) },
    )
  },
)

const outerPairRows = [
  [4, 5, 6],
  [4, 5, 6, 7, 8, 9, 10],
  [7, 8, 9, 10, 11, 12, 13],
  [11, 12, 13],
]

/**
 * Four ranks in a row with 3, 4 and 3 neighbors in common: the heaviest pair is the middle one, the heaviest
 * pairing the outer two.
 */
const outerPairs: Configuration = {
  what: 'outer pairs',
  topology: topologyFromEdges(14, {
    sources: outerPairRows.flatMap((row, rank) => row.map(() => rank)),
    destinations: outerPairRows.flat(),
  }),
  k: 2,
  mode: 'agnostic',
  nodeOf: new Int32Array(14),
  theta: 0,
  labelSeed: undefined,
}

test('first round: greedy <= improved <= exact = the heaviest grouping', () => {
  let improvedSome = 0
  fc.assert(
    fc.property(configurations, (configuration) => {
      const { topology, k, mode, nodeOf, theta } = configuration
      const weight = (engine: GroupingEngine) => weightOf(plainGroupsOf(found(configuration, engine)), 0)
      const [greedy, improved, exact] = [weight('greedy'), weight('improved'), weight('exact')]
      expect(improved).toBeGreaterThanOrEqual(greedy)
      expect(exact).toBeGreaterThanOrEqual(improved)
      expect(exact).toBe(heaviestGrouping(topology, k, theta, mode === 'aware' ? nodeOf : null))
      if (improved > greedy) improvedSome++
    }),
    { numRuns: cases(400), examples: [[outerPairs]] },
  )
  expect(improvedSome).toBeGreaterThan(0)
})

test('default thresholds are those of the paper', () => {
  expect([2, 3, 4].map((k) => [defaultTheta(k, 'aware'), defaultTheta(k, 'agnostic')])).toEqual([
    [2, 2],
    [3, 6],
    [4, 12],
  ])
})
