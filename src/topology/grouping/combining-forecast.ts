import { requireKnownOptions } from '../../base/known-options.js'
import { type OptionTable, uncheckedOptions } from '../../base/option.js'
import { requireOption } from '../../base/option-table.js'
import { wrongValue } from '../../errors.js'
import { entriesByRow, rowStarts } from '../compressed-rows.js'
import { type CommonNeighbors, commonNeighbors } from '../friends/common-neighbors.js'
import type { FriendGroups } from '../friends/friend-groups.js'
import {
  defaultTheta,
  friendOptions,
  type GroupingProgress,
  requireNodes,
} from '../friends/grouping-options.js'
import { distinctOut } from '../neighbors.js'
import { type ProcessTopology, requireTopology } from '../process-topology.js'
import { groupFriends } from './group-friends.js'

export interface ForecastOptions {
  /** The numbers of friends per group to try, at least 2 each. */
  readonly ks: readonly number[]
  /**
   * Node of every rank: friends share a node and theta is k (aware). Absent or null: any ranks, theta is
   * k(k-1).
   */
  readonly nodeOf?: Int32Array | null
  /** The distribution of common neighbors over the same nodes, if it has been counted before. */
  readonly common?: CommonNeighbors
  /** The most pairs of friends, times k, for which k is tried: grouping more would take minutes. Default 5 x 10^6. */
  readonly pairLimit?: number
  /** Reports every group that is found. */
  readonly onGroup?: (k: number, groups: number) => void
  /** Reports progress from inside the search for groups, as `onProgress` of `groupFriends` does. */
  readonly onProgress?: (k: number, progress: GroupingProgress) => void
}

export interface Forecast {
  readonly k: number
  readonly theta: number
  /**
   * The number of messages of all ranks with groups of k friends; null, with the reason, if grouping would take too
   * long.
   */
  readonly messages: number | null
  readonly reason: string | null
}

export interface CombiningForecast {
  /** The number of messages without combining: distinct edges. */
  readonly direct: number
  /** The forecast of each k, in the order given. */
  readonly forecasts: readonly Forecast[]
  /** The k with the fewest messages, the smallest of those; null if none has fewer than `direct`. */
  readonly bestK: number | null
  /** The friend groups of the best k. */
  readonly groups: FriendGroups | null
}

const knownOptions: OptionTable<ForecastOptions> = uncheckedOptions(
  'ks',
  'nodeOf',
  'common',
  'pairLimit',
  'onGroup',
  'onProgress',
)

/**
 * Counts the messages of a neighbor allgather for each k. It groups friends and counts the messages of their plan
 * without making the plan. Exchanges and direct messages are left out where another one serves (docs/decisions/0003).
 *
 * @throws ERR_STRATEGY k < 2, nodes for another number of ranks
 * @see Ghazimirsaeed 2019 §7.3.3, §7.6.2 (Figure 7.10)
 */
export function forecastCombining(topology: ProcessTopology, options: ForecastOptions): CombiningForecast {
  requireTopology(topology)
  requireKnownOptions('forecastCombining', options, knownOptions)
  const { ks, nodeOf = null, pairLimit = 5e6, onGroup, onProgress } = options
  if (!Array.isArray(ks)) throw wrongValue('ERR_STRATEGY', 'forecastCombining: expected a list of k', ks)
  const mode = nodeOf === null ? 'agnostic' : 'aware'
  for (const k of ks) requireOption('forecastCombining', 'k', friendOptions.k, k, 'ERR_STRATEGY')
  requireNodes(topology.ranks, nodeOf)
  const common = options.common ?? commonNeighbors(topology, { nodeOf })
  const direct = distinctOut(topology).rank.length
  let best: { readonly messages: number; readonly groups: FriendGroups } | null = null
  const forecasts: Forecast[] = []
  for (const k of ks) {
    const theta = defaultTheta(k, mode)
    const reason = reasonToSkip(common, k, theta, pairLimit)
    if (reason !== null) {
      forecasts.push({ k, theta, messages: null, reason })
      continue
    }
    const groups = groupFriends(topology, {
      k,
      mode,
      nodeOf,
      ...(onGroup === undefined ? {} : { onGroup: (_, found) => onGroup(k, found) }),
      ...(onProgress === undefined ? {} : { onProgress: (progress) => onProgress(k, progress) }),
    })
    const messages = countMessages(groups)
    forecasts.push({ k, theta, messages, reason: null })
    const fewest: number = best?.messages ?? direct
    if (messages < fewest || (best !== null && messages === fewest && k < best.groups.k))
      best = { messages, groups }
  }
  return { direct, forecasts, bestK: best?.groups.k ?? null, groups: best?.groups ?? null }
}

/** Returns the reason why friends are not grouped for a forecast; null if they are. */
function reasonToSkip(common: CommonNeighbors, k: number, theta: number, pairLimit: number): string | null {
  if (common.kind !== 'counted') return common.reason
  const pairs = pairsAbove(common, theta)
  return pairs * k > pairLimit ? `${pairs} pairs of friends, too many to group for a forecast` : null
}

/** Counts the pairs of ranks that have more than theta out-neighbors in common: friends. */
export function pairsAbove(common: CommonNeighbors & { kind: 'counted' }, theta: number): number {
  let pairs = 0
  for (let c = theta + 1; c < common.histogram.length; c++) pairs += common.histogram[c]
  return pairs
}

/**
 * Counts the messages of the groups' plan: one per common neighbor and group; one from each member to every fellow
 * member that serves a part in any of their groups; the direct ones, except to such members.
 */
function countMessages({ ranks, k, members, commonStart, directStart, direct }: FriendGroups): number {
  const start = rowStarts(ranks, members)
  const placeOf = entriesByRow(start, members)
  const exchangedBy = new Int32Array(ranks).fill(-1)
  let messages = commonStart[commonStart.length - 1]
  for (let p = 0; p < ranks; p++) {
    for (let m = start[p]; m < start[p + 1]; m++) {
      const group = Math.floor(placeOf[m] / k)
      const parts = Math.min(k, commonStart[group + 1] - commonStart[group])
      for (let i = 0; i < parts; i++) {
        const friend = members[group * k + i]
        if (friend === p || exchangedBy[friend] === p) continue
        exchangedBy[friend] = p
        messages++
      }
    }
    for (let e = directStart[p]; e < directStart[p + 1]; e++) if (exchangedBy[direct[e]] !== p) messages++
  }
  return messages
}
