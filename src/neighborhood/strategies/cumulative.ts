import { friendOptions, largestGroup, strategyError } from '../../topology/friends/grouping-options.js'
import { groupFriends } from '../../topology/grouping/group-friends.js'
import { distinctOut, type NeighborSets } from '../../topology/neighbors.js'
import { edgeOf, groupingModes, routeByEdges, rowOfEntries, serveEdges } from './common-neighbor.js'
import type { Route, RouteFacts, StrategyKind } from './strategy-kind.js'

/**
 * Friends hand over neighbors step by step. A friend that serves a common neighbor retains it, with all blocks that it
 * holds for it, and may hand it over again. No rank sends to a neighbor before the last phase. There is one phase more
 * than there are steps.
 */
export interface Cumulative {
  readonly kind: 'cumulative'
  /** The number of friends per group, at least 2. */
  readonly k: number
  /** The mode of `common-neighbor`, with its default theta. */
  readonly mode: 'agnostic' | 'aware'
}

/** @see Ghazimirsaeed 2019 §8.2 (cumulative combining) */
export const cumulative: StrategyKind<Cumulative> = {
  help: 'cumulative:k=2,mode=aware   friends hand over what they hold for common neighbors, again and again',
  options: { k: friendOptions.k, mode: friendOptions.mode },
  planningLimit: Number.POSITIVE_INFINITY,
  check({ k }) {
    if (k > largestGroup) throw strategyError(`cumulative: expected k of at most ${largestGroup}, got ${k}`)
  },
  route: ({ k, mode }, facts) => routeOfSteps(k, mode, facts),
  friends: ({ k }) => k,
  place: 9,
  candidates: ({ largest }) => groupingModes(largest).map((mode) => ({ kind: 'cumulative', k: 2, mode })),
}

function routeOfSteps(
  k: number,
  mode: 'agnostic' | 'aware',
  { topology, nodeOf, progress }: RouteFacts,
): Route {
  const out = distinctOut(topology)
  const groups = groupFriends(topology, { k, mode, nodeOf, cumulative: true, ...progress })
  const handedTo = out.rank.map((_, edge) => edge)
  const handedAt = new Int32Array(out.rank.length).fill(-1)
  serveEdges(groups, out, (edge, holder, step) => {
    const kept = edgeOf(out, holder, out.rank[edge])
    if (kept === edge) return
    handedTo[edge] = kept
    handedAt[edge] = step
  })
  return routeByEdges(out, holdersAfterSteps(out, groups.steps, handedTo, handedAt))
}

/** Returns the rank that holds the block of every edge after each step: `edges * steps` numbers. */
function holdersAfterSteps(
  out: NeighborSets,
  steps: number,
  handedTo: Int32Array,
  handedAt: Int32Array,
): Int32Array[] {
  const source = rowOfEntries(out.start)
  const edges = handedTo.map((_, edge) => edge)
  return Array.from({ length: steps }, (_, step) => {
    for (let e = 0; e < edges.length; e++) if (handedAt[edges[e]] === step) edges[e] = handedTo[edges[e]]
    return edges.map((edge) => source[edge])
  })
}
