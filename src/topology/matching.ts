import type { FriendGroups } from './friend-groups.js'
import { friendLists, ownersOf } from './friendship.js'
import { IntList } from './int-list.js'
import { ActiveNeighbors } from './matching-active.js'
import { checkFriendOptions, defaultTheta, refused } from './matching-options.js'
import { MatchingRounds } from './matching-rounds.js'
import { distinctOut } from './neighbors.js'
import type { ProcessTopology } from './process-topology.js'

export interface MatchOptions {
  /** Friends per group, at least 2. */
  readonly k: number
  /** `aware`: friends share a node. `agnostic`: any ranks. */
  readonly mode: 'agnostic' | 'aware'
  /** A group needs strictly more common neighbors than this. Default k (aware), k(k-1) (agnostic). */
  readonly theta?: number
  /** Node of every rank. Needed in aware mode, not read in agnostic mode. */
  readonly nodeOf?: Int32Array | null
  /** Told of every group as it is found, so that long planning can be followed. */
  readonly onGroup?: (step: number, groups: number) => void
}

/**
 * Greedy matching of friends, round by round: of all groups of k ranks with more than theta common out-neighbors the
 * heaviest first (equal weights: lexicographically smallest members), no rank twice in a round; then every member
 * loses the neighbors its group serves. Self loops and parallel edges do not count.
 *
 * Same input, same groups, on every machine. Costs far less than there are groups: every rank keeps only the best
 * one it owns, and looks again when a member changed.
 *
 * @throws ERR_STRATEGY k < 2, theta not a whole number >= 0, aware mode without a node for every rank, more friends
 *   than fit in memory
 * @see Ghazimirsaeed 2019 §7.3, Algorithms 7.1-7.3 (equal weights are not ordered there)
 */
export function matchFriends(topology: ProcessTopology, options: MatchOptions): FriendGroups {
  const { k, mode, theta, nodeOf } = checkedOptions(topology.ranks, options)
  const out = distinctOut(topology)
  const active = new ActiveNeighbors(out)
  const friends = friendLists(out, theta, nodeOf)
  const owners = ownersOf(friends, k)
  const rounds =
    owners.length === 0 ? null : new MatchingRounds(owners, friends, active, k, theta, options.onGroup)

  const step = new IntList()
  const members = new IntList()
  const commonStart = new IntList()
  const common = new IntList()
  let steps = 0
  for (let groups = rounds?.next() ?? []; groups.length > 0; groups = rounds?.next() ?? []) {
    for (const group of groups) {
      step.push(steps)
      members.append(group.members)
      commonStart.push(common.length)
      common.append(group.common)
    }
    steps++
  }
  commonStart.push(common.length)
  const direct = active.toSets()
  return {
    ranks: topology.ranks,
    k,
    theta,
    mode,
    steps,
    count: step.length,
    step: step.toArray(),
    members: members.toArray(),
    commonStart: commonStart.toArray(),
    common: common.toArray(),
    directStart: direct.start,
    direct: direct.rank,
  }
}

interface CheckedOptions {
  readonly k: number
  readonly mode: 'agnostic' | 'aware'
  readonly theta: number
  readonly nodeOf: Int32Array | null
}

function checkedOptions(ranks: number, options: MatchOptions): CheckedOptions {
  const { k, mode } = options
  if (mode !== 'aware' && mode !== 'agnostic') throw refused(`expected mode aware or agnostic, got ${mode}`)
  const theta = options.theta ?? defaultTheta(k, mode)
  const nodeOf = mode === 'aware' ? (options.nodeOf ?? null) : null
  checkFriendOptions(ranks, k, theta, nodeOf)
  if (mode === 'aware' && nodeOf === null)
    throw refused('aware mode needs the node of every rank: give a machine')
  return { k, mode, theta, nodeOf }
}
