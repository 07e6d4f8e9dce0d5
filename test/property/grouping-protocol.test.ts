import fc from 'fast-check'
import { expect, test } from 'vitest'
import { mulberry32 } from '../../src/base/random.js'
import { GroupSearch } from '../../src/topology/friends/group-search.js'
import { seededLabels } from '../../src/topology/friends/seeded-labels.js'
import { groupsOfPatterns } from '../../src/topology/grouping/distributed/friend-patterns.js'
import { rankViews } from '../../src/topology/grouping/distributed/group-by-messages.js'
import { GroupingRank } from '../../src/topology/grouping/distributed/grouping-rank.js'
import type { KnownFriends } from '../../src/topology/grouping/distributed/known-friends.js'
import type { GroupingMessage } from '../../src/topology/grouping/distributed/rank-view.js'
import { groupFriends } from '../../src/topology/grouping/group-friends.js'
import { cases } from '../support/soak.js'
import { groupExhaustively, plainGroupsOf } from './grouping-oracle.js'
import { nodesFor, smallTopologies } from './random-topology.js'

const configurations = smallTopologies(10).chain(({ what, topology }) =>
  fc.record({
    what: fc.constant(what),
    topology: fc.constant(topology),
    k: fc.constantFrom(2, 3, 4),
    mode: fc.constantFrom('agnostic' as const, 'aware' as const),
    nodeOf: nodesFor(topology.ranks),
    theta: fc.integer({ min: 0, max: 4 }),
    labelSeed: fc.option(fc.integer({ min: 0, max: 2 ** 32 - 1 }), { nil: undefined }),
    order: fc.integer({ min: 0, max: 2 ** 31 - 1 }),
  }),
)

type Configuration = typeof configurations extends fc.Arbitrary<infer C> ? C : never

/** Delivers messages one by one, of a pair in the order of sending, otherwise in an order that a seed draws. */
function matchInRandomOrder(configuration: Configuration, Rank: typeof GroupingRank = GroupingRank) {
  const { topology, k, mode, nodeOf, theta, labelSeed, order } = configuration
  const labels = labelSeed === undefined ? null : seededLabels(topology.ranks, labelSeed)
  const search = new GroupSearch(k - 1)
  const pairs: { from: number; to: number; messages: GroupingMessage[] }[] = []
  const pairOf = new Map<number, (typeof pairs)[number]>()
  const ranks = rankViews(topology, mode === 'aware' ? nodeOf : null).map(
    (view) =>
      new Rank(view, { k, theta, labels }, search, (to, message) => {
        const key = view.rank * topology.ranks + to
        const pair = pairOf.get(key) ?? { from: view.rank, to, messages: [] }
        if (pair.messages.length === 0) {
          pairOf.set(key, pair)
          pairs.push(pair)
        }
        pair.messages.push(message)
      }),
  )
  const draw = mulberry32(order)
  for (const rank of ranks) rank.start()
  while (pairs.length > 0) {
    const at = draw() % pairs.length
    const pair = pairs[at]
    const message = pair.messages.shift() as GroupingMessage
    if (pair.messages.length === 0) pairs.splice(at, 1)
    ranks[pair.to].receive(pair.from, message)
  }
  return ranks
}

/** The groups of the ranks; throws when they got stuck or do not know the same. */
function groupsOf(configuration: Configuration, Rank?: typeof GroupingRank) {
  const { topology, k, theta, mode } = configuration
  const ranks = matchInRandomOrder(configuration, Rank)
  if (!ranks.every((rank) => rank.isDone && rank.waitingMessages === 0)) throw new Error('stuck')
  const patterns = ranks.map((rank) => rank.pattern())
  return groupsOfPatterns(topology.ranks, patterns, { k, theta, mode })
}

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
  expect(withGroups).toBeGreaterThan(300)
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
    { numRuns: cases(300) },
  )
})

/** As printed in Algorithm 7.1, line 24: ranks hear that friends end a round, but not what these stop sending. */
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

test.each([
  ['stale friend rows', StaleRows],
  ['no shared tie-break', OwnTieBreak],
])('the comparison with the greedy engine detects %s', (_, Faulty) => {
  let noticed = 0
  const runs = 300
  fc.assert(
    fc.property(configurations, (configuration) => {
      const { topology, k, mode, nodeOf, theta, labelSeed } = configuration
      const options = { k, mode, nodeOf, theta, ...(labelSeed === undefined ? {} : { labelSeed }) }
      const planned = groupFriends(topology, options)
      try {
        expect(plainGroupsOf(groupsOf(configuration, Faulty))).toEqual(plainGroupsOf(planned))
      } catch {
        noticed++
      }
    }),
    { numRuns: runs },
  )
  expect(noticed).toBeGreaterThan(3)
})
