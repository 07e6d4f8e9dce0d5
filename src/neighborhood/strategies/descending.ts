import { integersOption } from '../../base/option.js'
import { friendOptions, largestGroup, strategyError } from '../../topology/friends/grouping-options.js'
import { groupFriends } from '../../topology/grouping/group-friends.js'
import { distinctOut } from '../../topology/neighbors.js'
import { topologyFromEdges } from '../../topology/topology-builders.js'
import { groupingModes, routeByEdges, rowOfEntries, serveEdges } from './common-neighbor.js'
import type { Route, RouteFacts, StrategyKind } from './strategy-kind.js'

/** Friend groups of falling size: those of the first k, then smaller ones for the edges that no group serves yet. */
export interface Descending {
  readonly kind: 'descending'
  /** The numbers of friends per group, in the order in which groups are formed, each at least 2. */
  readonly ks: readonly number[]
  /** The mode of `common-neighbor`, with its default theta for every k. */
  readonly mode: 'agnostic' | 'aware'
}

export const descending: StrategyKind<Descending> = {
  help: 'descending:ks=4.3.2,mode=aware   friend groups of 4, then of 3, then of 2 for what is left',
  options: {
    ks: integersOption({
      least: 2,
      help: 'friends per group, in the order in which groups are formed',
      default: [4, 3, 2],
      required: true,
    }),
    mode: friendOptions.mode,
  },
  planningLimit: Number.POSITIVE_INFINITY,
  check({ ks }) {
    if (ks.length === 0) throw strategyError('descending: expected at least one k, got none')
    if (ks.some((k) => k > largestGroup))
      throw strategyError(`descending: expected ks of at most ${largestGroup}, got ${ks.join('.')}`)
  },
  route: ({ ks, mode }, facts) => routeOfGroups(ks, mode, facts),
  friends: ({ ks }) => ks[0],
  // At most one group serves an edge, so members of a group combine only their own blocks.
  mostBlocks: ({ ks }) => ks.reduce((most, k) => Math.max(most, k), 1),
  place: 8,
  candidates: ({ largest }) =>
    groupingModes(largest).map((mode) => ({ kind: 'descending', ks: [4, 3, 2], mode })),
}

function routeOfGroups(
  ks: readonly number[],
  mode: 'agnostic' | 'aware',
  { topology, nodeOf, progress }: RouteFacts,
): Route {
  const out = distinctOut(topology)
  const friends = out.rank.slice()
  let rest = topology
  for (const k of ks) {
    const groups = groupFriends(rest, { k, mode, nodeOf, ...progress })
    serveEdges(groups, out, (edge, holder) => {
      friends[edge] = holder
    })
    const { directStart, direct } = groups
    rest = topologyFromEdges(topology.ranks, { sources: rowOfEntries(directStart), destinations: direct })
  }
  return routeByEdges(out, [friends])
}
