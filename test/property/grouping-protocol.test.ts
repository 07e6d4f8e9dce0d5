import fc from 'fast-check'
import { expect, test } from 'vitest'
import { seededLabels } from '../../src/topology/friends/seeded-labels.js'
import { groupsOfPatterns } from '../../src/topology/grouping/friend-patterns.js'
import { groupFriends } from '../../src/topology/grouping/group-friends.js'
import { GroupingRank } from '../../src/topology/grouping/grouping-rank.js'
import type { KnownFriends } from '../../src/topology/grouping/known-friends.js'
import { cases } from '../support/soak.js'
import { groupExhaustively, plainGroupsOf } from './grouping-oracle.js'
import { configurations, groupsOf, matchInRandomOrder } from './random-delivery.js'

test('in any order of delivery ranks find the groups of the exhaustive greedy, and no rank is left waiting', () => {
  let withGroups = 0
  fc.assert(
    fc.property(configurations, (configuration) => {
      const { topology, k, mode, nodeOf, theta, labelSeed } = configuration
      const labels = labelSeed === undefined ? undefined : seededLabels(topology.ranks, labelSeed)
      const found = groupsOf(configuration)
      const nodes = mode === 'aware' ? nodeOf : null
      expect(plainGroupsOf(found)).toEqual(groupExhaustively(topology, k, theta, nodes, labels))
      if (found.count > 0) withGroups++
    }),
    { numRuns: cases(2_000) },
  )
  expect(withGroups).toBeGreaterThan(cases(300))
})

test('every rank knows which groups serve it', () => {
  fc.assert(
    fc.property(configurations, (configuration) => {
      const { topology, k, theta, mode } = configuration
      const ranks = matchInRandomOrder(configuration)
      const patterns = ranks.map((rank) => rank.pattern())
      const whole = groupsOfPatterns(topology.ranks, patterns, { k, theta, mode })
      // From the served ranks alone: the same groups, with the members that serve them.
      const served = patterns.map((pattern) => ({ ...pattern, groups: [], direct: new Int32Array(0) }))
      const { steps, count, step, members, common, holder } = groupsOfPatterns(topology.ranks, served, {
        k,
        theta,
        mode,
      })
      expect({ steps, count, step, members, common, holder }).toEqual({
        steps: whole.steps,
        count: whole.count,
        step: whole.step,
        members: whole.members,
        common: whole.common,
        holder: whole.holder,
      })
      const direct = patterns.flatMap(({ rank, directSources }) =>
        Array.from(directSources, (p) => [p, rank]),
      )
      const sent = patterns.flatMap((pattern) => Array.from(pattern.direct, (q) => [pattern.rank, q]))
      expect(direct.map(String).sort()).toEqual(sent.map(String).sort())
    }),
    { numRuns: cases(300, 300) },
  )
})

/**
 * As printed in Algorithm 7.1, line 24: ranks hear that friends end a round, but not what these stop sending.
 */
class StaleRows extends GroupingRank {
  protected override applyRemoval(_friends: KnownFriends, _friend: number, _removed: Int32Array): void {}
}

/** As printed in Algorithm 7.3, line 6: the largest hyperedge, whichever of equal ones comes to mind. */
class OwnTieBreak extends GroupingRank {
  static #made = 0
  readonly #turn = OwnTieBreak.#made++
  protected override orderFriends(friends: number[]): number[] {
    const sorted = super.orderFriends(friends)
    const turn = sorted.length === 0 ? 0 : (this.#turn * 7) % sorted.length
    return [...sorted.slice(turn), ...sorted.slice(0, turn)]
  }
}

/** Where ranks share so much that several groups compete, in several rounds. */
const crowded = configurations.filter(
  ({ topology, theta, k }) => k === 2 && theta <= 1 && topology.outRank.length >= 3 * topology.ranks,
)

test.each([
  ['stale friend rows', StaleRows],
  ['no shared tie-break', OwnTieBreak],
])(
  'the comparison with the greedy engine detects %s in at least a third of crowded topologies',
  (_, Faulty) => {
    let detected = 0
    const runs = 200
    fc.assert(
      fc.property(crowded, (configuration) => {
        const { topology, k, mode, nodeOf, theta, labelSeed } = configuration
        const options = { k, mode, nodeOf, theta, ...(labelSeed === undefined ? {} : { labelSeed }) }
        const planned = groupFriends(topology, options)
        try {
          expect(plainGroupsOf(groupsOf(configuration, Faulty))).toEqual(plainGroupsOf(planned))
        } catch {
          detected++
        }
      }),
      { numRuns: runs },
    )
    expect(detected).toBeGreaterThan(runs / 3)
  },
)
