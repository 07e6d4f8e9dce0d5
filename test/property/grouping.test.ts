import fc from 'fast-check'
import { expect, test } from 'vitest'
import { defaultTheta } from '../../src/topology/friends/grouping-options.js'
import { countHyperedges } from '../../src/topology/friends/hyperedges.js'
import { groupFriends } from '../../src/topology/grouping/group-friends.js'
import { cases } from '../support/soak.js'
import {
  commonOf,
  groupExhaustively,
  outSets,
  plainGroupsOf,
  sameNode,
  sendersIn,
  subsets,
} from './grouping-oracle.js'
import { nodesFor, smallTopologies } from './random-topology.js'

const configurations = smallTopologies(11).chain(({ what, topology }) =>
  fc.record({
    what: fc.constant(what),
    topology: fc.constant(topology),
    k: fc.constantFrom(2, 3, 4),
    mode: fc.constantFrom('agnostic' as const, 'aware' as const),
    nodeOf: nodesFor(topology.ranks),
    // Small graphs rarely exceed the default threshold: most cases choose a smaller one.
    theta: fc.oneof({ weight: 4, arbitrary: fc.integer({ min: 0, max: 4 }) }, fc.constant(undefined)),
  }),
)

const shown = ({
  what,
  k,
  mode,
  nodeOf,
  theta,
}: typeof configurations extends fc.Arbitrary<infer C> ? C : never) =>
  `${what} k=${k} ${mode} theta=${theta} nodes=${[...nodeOf]}`

test('groupFriends equals the exhaustive greedy on random configurations', () => {
  let withGroups = 0
  let withSeveralSteps = 0
  fc.assert(
    fc.property(configurations, (configuration) => {
      const { topology, k, mode, nodeOf, theta } = configuration
      const found = groupFriends(topology, { k, mode, nodeOf, ...(theta === undefined ? {} : { theta }) })
      const nodes = mode === 'aware' ? nodeOf : null
      const expected = groupExhaustively(topology, k, theta ?? defaultTheta(k, mode), nodes)
      expect(plainGroupsOf(found), shown(configuration)).toEqual(expected)
      const lastStep = expected.groups.at(-1)?.step ?? -1
      expect(found.steps).toBe(lastStep + 1)
      if (lastStep >= 0) withGroups++
      if (lastStep >= 1) withSeveralSteps++
    }),
    { numRuns: cases(8_000) },
  )
  // The cases must be worth their name.
  expect(withGroups).toBeGreaterThan(cases(1_000))
  expect(withSeveralSteps).toBeGreaterThan(cases(300))
})

test('every edge is served once, by a group of its rank or directly', () => {
  fc.assert(
    fc.property(configurations, ({ topology, k, mode, nodeOf, theta }) => {
      const { groups, direct } = plainGroupsOf(
        groupFriends(topology, { k, mode, nodeOf, ...(theta === undefined ? {} : { theta }) }),
      )
      const served = direct.map((row) => [...row])
      for (const { members, common } of groups) {
        for (const p of members) served[p].push(...common)
        for (const p of members) expect(common).not.toContain(p)
      }
      const expected = outSets(topology).map((row) => [...row].sort((a, b) => a - b))
      expect(served.map((row) => row.sort((a, b) => a - b))).toEqual(expected)
    }),
    { numRuns: cases(500) },
  )
})

test('hyperedge counts equal the enumeration of all subsets', () => {
  fc.assert(
    fc.property(configurations, ({ topology, k, mode, nodeOf, theta = defaultTheta(k, mode) }) => {
      const nodes = mode === 'aware' ? nodeOf : null
      const out = outSets(topology)
      const perRank = new Float64Array(topology.ranks)
      let total = 0
      for (const members of subsets(sendersIn(out), k)) {
        if (!sameNode(nodes, members) || commonOf(out, members).length <= theta) continue
        for (const p of members) perRank[p]++
        total++
      }
      const meanPerRank = (total * k) / topology.ranks
      expect(countHyperedges(topology, { k, theta, nodeOf: nodes })).toEqual({
        kind: 'counted',
        perRank,
        meanPerRank,
        total,
      })
    }),
    { numRuns: cases(1_000) },
  )
})
