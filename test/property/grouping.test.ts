import fc from 'fast-check'
import { beforeAll, expect, test } from 'vitest'
import { type GroupingEngine, seededLabels } from '../../src/topology/friends/grouping-options.js'
import { countHyperedges } from '../../src/topology/friends/hyperedges.js'
import { prepareEngine } from '../../src/topology/grouping/exact-round.js'
import { groupsOfPatterns, simulateGrouping } from '../../src/topology/grouping/group-by-messages.js'
import { groupFriends } from '../../src/topology/grouping/group-friends.js'
import { topologyFromEdges } from '../../src/topology/topology-builders.js'
import { cases } from '../support/soak.js'
import {
  commonOf,
  groupExhaustively,
  heaviestGrouping,
  outSets,
  plainGroupsOf,
  sameNode,
  sendersIn,
  subsets,
} from './grouping-oracle.js'
import { type Configuration, configurations, groupsOf, matchInRandomOrder } from './random-delivery.js'

beforeAll(() => prepareEngine('exact'))

const optionsOf = ({ k, mode, nodeOf, theta, labelSeed }: Configuration) => ({
  ...{ k, mode, nodeOf, theta },
  ...(labelSeed === undefined ? {} : { labelSeed }),
})
const found = (configuration: Configuration, engine: GroupingEngine) =>
  groupFriends(configuration.topology, { ...optionsOf(configuration), engine })
const nodesOf = ({ mode, nodeOf }: Configuration) => (mode === 'aware' ? nodeOf : null)

/** By enumeration, in the order of the labels. */
function expectedGroups(configuration: Configuration, labelSeed = configuration.labelSeed) {
  const { topology, k, theta } = configuration
  const labels = labelSeed === undefined ? undefined : seededLabels(topology.ranks, labelSeed)
  return groupExhaustively(topology, k, theta, nodesOf(configuration), labels)
}

test('greedy equals the exhaustive greedy, by ranks and by permuted labels', () => {
  let [withGroups, withSeveralSteps, byLabels] = [0, 0, 0]
  fc.assert(
    fc.property(configurations, (configuration) => {
      const expected = expectedGroups(configuration)
      const grouping = found(configuration, 'greedy')
      expect(plainGroupsOf(grouping)).toEqual(expected)
      const lastStep = expected.groups.at(-1)?.step ?? -1
      expect(grouping.steps).toBe(lastStep + 1)
      if (lastStep >= 0) withGroups++
      if (lastStep >= 1) withSeveralSteps++
      const byRanks = expectedGroups({ ...configuration, labelSeed: undefined })
      if (JSON.stringify(expected) !== JSON.stringify(byRanks)) byLabels++
    }),
    { numRuns: cases(8_000, 3_000), seed: 20261129 },
  )
  // The cases must be worth their name.
  expect(Math.min(withGroups / 2, withSeveralSteps, 5 * byLabels)).toBeGreaterThan(200)
})

test('in any order of delivery ranks find the groups of the exhaustive greedy, and no rank is left waiting', () => {
  fc.assert(
    fc.property(configurations, (configuration) => {
      expect(plainGroupsOf(groupsOf(configuration))).toEqual(expectedGroups(configuration))
    }),
    { numRuns: cases(2_000, 700) },
  )
})

test('the distributed engine finds the groups of the greedy one', () => {
  fc.assert(
    fc.property(configurations, (configuration) => {
      const distributed = simulateGrouping(configuration.topology, optionsOf(configuration))
      expect({ ...distributed, timeMs: 0 }).toEqual({
        ...found(configuration, 'greedy'),
        timeMs: 0,
        engine: 'distributed',
        messages: expect.anything(),
        waves: expect.any(Array),
      })
    }),
    { numRuns: cases(1_500, 300) },
  )
})

test('every rank knows which groups serve it', () => {
  fc.assert(
    fc.property(configurations, (configuration) => {
      const { topology, k, theta, mode } = configuration
      const patterns = matchInRandomOrder(configuration).map((rank) => rank.pattern())
      const factsOf = (known: typeof patterns) => {
        const groups = groupsOfPatterns(topology.ranks, known, { k, theta, mode })
        const { steps, count, step, members, common, holder } = groups
        return { steps, count, step, members, common, holder }
      }
      // From the served ranks alone: the same groups, with the members that serve them.
      const served = patterns.map((pattern) => ({ ...pattern, groups: [], direct: new Int32Array(0) }))
      expect(factsOf(served)).toEqual(factsOf(patterns))
      const received = patterns.flatMap(({ rank, directSources }) =>
        Array.from(directSources, (p) => `${p} ${rank}`),
      )
      const sent = patterns.flatMap(({ rank, direct }) => Array.from(direct, (q) => `${rank} ${q}`))
      expect(received.sort()).toEqual(sent.sort())
    }),
    { numRuns: cases(300, 150) },
  )
})

test('hyperedge counts equal the enumeration of all subsets', () => {
  fc.assert(
    fc.property(configurations, (configuration) => {
      const { topology, k, theta } = configuration
      const nodeOf = nodesOf(configuration)
      const out = outSets(topology)
      const perRank = new Float64Array(topology.ranks)
      let total = 0
      for (const members of subsets(sendersIn(out), k)) {
        if (!sameNode(nodeOf, members) || commonOf(out, members).length <= theta) continue
        for (const p of members) perRank[p]++
        total++
      }
      const meanPerRank = (total * k) / topology.ranks
      const counted = { kind: 'counted', perRank, meanPerRank, total }
      expect(countHyperedges(topology, { k, theta, nodeOf })).toEqual(counted)
    }),
    { numRuns: cases(1_000, 300) },
  )
})

test.each([
  ['improved', cases(500, 150)],
  ['exact', cases(60, 20)],
] as const)('%s: disjoint groups above the threshold, nothing left, in %i cases', (engine, numRuns) => {
  fc.assert(
    fc.property(configurations, (configuration) => {
      const { topology, k, theta } = configuration
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
          expect(sameNode(nodesOf(configuration), group.members)).toBe(true)
        }
        for (const group of ofStep)
          for (const p of group.members) for (const q of group.common) out[p].delete(q)
      }
      expect(direct).toEqual(out.map((row) => [...row].sort((a, b) => a - b)))
      expect(grouping.weight).toBe(groups.reduce((sum, { common }) => sum + common.length, 0))
    }),
    { numRuns },
  )
})

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
  order: 0,
}

test('first round: greedy <= improved <= exact = the heaviest grouping', () => {
  let improvedSome = 0
  fc.assert(
    fc.property(configurations, (configuration) => {
      const { topology, k, theta } = configuration
      const weightOf = (engine: GroupingEngine) =>
        plainGroupsOf(found(configuration, engine))
          .groups.filter(({ step }) => step === 0)
          .reduce((sum, { common }) => sum + common.length, 0)
      const [greedy, improved, exact] = [weightOf('greedy'), weightOf('improved'), weightOf('exact')]
      expect(improved).toBeGreaterThanOrEqual(greedy)
      expect(exact).toBeGreaterThanOrEqual(improved)
      expect(exact).toBe(heaviestGrouping(topology, k, theta, nodesOf(configuration)))
      if (improved > greedy) improvedSome++
    }),
    { numRuns: cases(400, 100), examples: [[outerPairs]] },
  )
  expect(improvedSome).toBeGreaterThan(0)
})
