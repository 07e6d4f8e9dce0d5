import type { FriendGroups } from '../../topology/friends/friend-groups.js'
import {
  friendOptions,
  type GroupingEngine,
  requireSearchable,
} from '../../topology/friends/grouping-options.js'
import { type Grouping, groupFriends } from '../../topology/grouping/group-friends.js'
import { distinctOut, type NeighborSets } from '../../topology/neighbors.js'
import { combiningOptions, commonNeighborSchedule } from './common-neighbor.js'
import { routeByEdges, serveEdges } from './served-edges.js'
import type { RouteFacts, StrategyKind } from './strategy-kind.js'

/** Groups of k friends combine what they send to common neighbors (Ghazimirsaeed 2019 §7). */
export interface CommonNeighbor {
  readonly kind: 'common-neighbor'
  /** The number of friends per group, at least 2. */
  readonly k: number
  /** `aware`: friends share a node, theta defaults to k. `agnostic`: any ranks, theta defaults to k(k-1). */
  readonly mode: 'agnostic' | 'aware'
  /** A group needs strictly more common neighbors than this. */
  readonly theta?: number
  /** Whether each pair of friends exchanges blocks once, even if they are in several groups together. Default true. */
  readonly dedupe?: boolean
  /** Whether direct messages to ranks that an exchange reaches are left out. Default true. */
  readonly elide?: boolean
  /**
   * The engine that groups friends. Default `greedy`, or `distributed` if `createDistGraphAdjacent` plans from
   * neighbors. The ranks then group friends by messages to their neighbors, and find the plan of `greedy`. Other calls
   * refuse `distributed`, because a process that has the whole topology could only simulate the ranks.
   */
  readonly engine?: GroupingEngine
  /**
   * Breaks ties between equally heavy groups by a permutation of the ranks. Default: by the ranks themselves.
   */
  readonly labelSeed?: number
}

const { k, mode, theta, engine, labelSeed } = friendOptions

export const commonNeighbor: StrategyKind<CommonNeighbor> = {
  help: 'common-neighbor:k=4,mode=aware   groups of k ranks with common neighbors combine what they send',
  options: { k, mode, theta, ...combiningOptions, engine, labelSeed },
  planningLimit: 2 ** 20,
  check: (strategy) => requireSearchable(strategy),
  route(strategy, facts) {
    const out = distinctOut(facts.topology)
    return routeByEdges(out, [friendsOfEdges(out, groupsOf(strategy, facts))])
  },
  schedule(strategy, facts) {
    const groups = groupsOf(strategy, facts)
    return { schedule: commonNeighborSchedule(facts.topology, groups, strategy), groups }
  },
}

function groupsOf(
  { kind: _kind, dedupe: _dedupe, elide: _elide, ...settings }: CommonNeighbor,
  { topology, nodeOf, progress }: RouteFacts,
): Grouping {
  return groupFriends(topology, {
    ...settings,
    ...progress,
    nodeOf: settings.mode === 'aware' ? nodeOf : null,
  })
}

/** Returns for every edge the rank that serves it: a friend, or the destination itself. */
function friendsOfEdges(out: NeighborSets, groups: FriendGroups): Int32Array {
  const friends = out.rank.slice()
  serveEdges(groups, out, (edge, holder) => {
    friends[edge] = holder
  })
  return friends
}
