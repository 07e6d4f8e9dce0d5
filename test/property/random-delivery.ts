import fc from 'fast-check'
import { mulberry32 } from '../../src/base/random.js'
import { GroupSearch } from '../../src/topology/friends/group-search.js'
import { seededLabels } from '../../src/topology/friends/grouping-options.js'
import { groupsOfPatterns, rankViews } from '../../src/topology/grouping/group-by-messages.js'
import type { GroupingMessage } from '../../src/topology/grouping/grouping-messages.js'
import { GroupingRank } from '../../src/topology/grouping/grouping-rank.js'
import { nodesFor, smallTopologies } from './random-topology.js'

export const configurations = smallTopologies(10).chain(({ what, topology }) =>
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

export type Configuration = typeof configurations extends fc.Arbitrary<infer C> ? C : never

/** Decides what is delivered instead of a message, the n-th that any rank sends; in order of delivery. */
export type Tamper = (
  message: GroupingMessage,
  n: number,
  from: number,
  to: number,
) => readonly GroupingMessage[]

const asSent: Tamper = (message) => [message]

/**
 * Delivers messages one by one, of a pair in the order of sending, otherwise in an order that a seed draws.
 */
export function matchInRandomOrder(
  configuration: Configuration,
  Rank: typeof GroupingRank = GroupingRank,
  tamper: Tamper = asSent,
) {
  const { topology, k, mode, nodeOf, theta, labelSeed, order } = configuration
  const labels = labelSeed === undefined ? null : seededLabels(topology.ranks, labelSeed)
  const search = new GroupSearch(k - 1)
  const pairs: { from: number; to: number; messages: GroupingMessage[] }[] = []
  const pairOf = new Map<number, (typeof pairs)[number]>()
  let sent = 0
  const ranks = rankViews(topology, mode === 'aware' ? nodeOf : null).map(
    (view) =>
      new Rank(view, { ranks: topology.ranks, k, theta, labels }, search, (to, message) => {
        const delivered = tamper(message, sent++, view.rank, to)
        if (delivered.length === 0) return
        const key = view.rank * topology.ranks + to
        const pair = pairOf.get(key) ?? { from: view.rank, to, messages: [] }
        if (pair.messages.length === 0) {
          pairOf.set(key, pair)
          pairs.push(pair)
        }
        pair.messages.push(...delivered)
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
export function groupsOf(configuration: Configuration, Rank?: typeof GroupingRank, tamper?: Tamper) {
  const { topology, k, theta, mode } = configuration
  const ranks = matchInRandomOrder(configuration, Rank, tamper)
  const patterns = ranks.map((rank) => rank.pattern())
  return groupsOfPatterns(topology.ranks, patterns, { k, theta, mode })
}
