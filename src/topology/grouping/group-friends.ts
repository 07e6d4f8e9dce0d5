import { GrowingInt32Array } from '../../base/growing-array.js'
import { requireKnownOptions } from '../../base/known-options.js'
import { inversePermutation } from '../../base/order.js'
import { permuteRows } from '../compressed-rows.js'
import { type FriendGroups, holdersOf, partBounds } from '../friends/friend-groups.js'
import { friendLists, ownersOf } from '../friends/friend-lists.js'
import {
  type GroupingEngine,
  type GroupingOptions,
  type GroupingSettings,
  groupingOptions,
  groupingSettings,
  ProgressMeter,
  refuseSimulation,
  seededLabels,
  strategyError,
} from '../friends/grouping-options.js'
import { distinctOut, largestRow, type NeighborSets } from '../neighbors.js'
import { type ProcessTopology, requireTopology } from '../process-topology.js'
import { exactRound, preparedSolver } from './exact-round.js'
import type { GroupingMessages } from './grouping-messages.js'
import { ActiveNeighbors, type FormedGroup, GroupingRounds } from './grouping-rounds.js'
import { improveRound } from './improve-round.js'

/**
 * Groups friends, round by round: disjoint groups of k ranks with more than theta common out-neighbors; then every
 * member loses the neighbors its group serves. Greedy by default: of all such groups the heaviest first (equal weights:
 * lexicographically smallest members). Self loops and parallel edges do not count.
 *
 * Same input, same groups, on every machine. Takes far less time than enumerating the groups: every rank caches only
 * the best one that it owns, and searches again when a member changed.
 *
 * @throws ERR_STRATEGY k < 2, theta not an integer >= 0, aware mode without a node for every rank, more friends than
 *   fit in memory; engine `exact` without the package `highs`, or with too much to choose from; engine `distributed`,
 *   since one process could only simulate all ranks; the errors of `onProgress`; ERR_ABORTED through `signal`
 * @see Ghazimirsaeed 2019 §7.3, Algorithms 7.1-7.3 (equal weights are not ordered there)
 */
export function groupFriends(topology: ProcessTopology, options: GroupingOptions): Grouping {
  requireTopology(topology)
  requireKnownOptions('groupFriends', options, groupingOptions)
  refuseSimulation('groupFriends', options.engine)
  const settings = groupingSettings(topology.ranks, options)
  if (options.cumulative && (settings.engine !== 'greedy' || settings.labelSeed !== null))
    throw strategyError('cumulative groups: expected engine greedy, without labels')
  const { now = () => performance.now() } = options
  const begin = now()
  const meter = new ProgressMeter(options.onProgress, options.signal)
  if (settings.engine === 'exact') preparedSolver(meter.isWatched)
  const groups = groupCentrally(topology, settings, meter, options)
  const weight = groups.common.length
  const { engine } = settings
  return { ...groups, engine, weight, messages: null, waves: null, timeMs: now() - begin }
}

/** Groups in label order: rows, nodes and groups number ranks by their labels. */
function groupCentrally(
  topology: ProcessTopology,
  settings: GroupingSettings,
  meter: ProgressMeter,
  { onGroup, cumulative = false }: GroupingOptions,
) {
  const { labelSeed } = settings
  const labels = labelSeed === null ? null : seededLabels(topology.ranks, labelSeed)
  const rankOf = labels === null ? null : inversePermutation(labels)
  const ranked = distinctOut(topology)
  const builder = new GroupsBuilder(topology.ranks, settings)
  // No rank has enough neighbors to be a friend: nothing to search, whatever the number of ranks.
  if (largestRow(ranked) <= settings.theta) return builder.build(ranked)
  const out = rankOf === null ? ranked : permuteRows(ranked, rankOf)
  const nodeOf = rankOf === null ? settings.nodeOf : settings.nodeOf && rankOf.map((r) => settings.nodeOf![r])
  const active = new ActiveNeighbors(out)
  const rounds = engineRounds({ ...settings, nodeOf }, active, out, meter, onGroup)

  for (let groups = rounds.find(); groups.length > 0; groups = rounds.find()) {
    builder.addStep(rankOf === null ? groups : groups.map((group) => named(group, rankOf)))
    rounds.serve(cumulative ? groups.flatMap(withoutOwnParts) : groups)
  }
  const direct = active.toSets()
  return builder.build(labels === null ? direct : permuteRows(direct, labels))
}

/** Returns the neighbors that every member loses when it retains those that it serves itself. */
function withoutOwnParts({ members, common }: FormedGroup): FormedGroup[] {
  return Array.from(members, (member, i) => {
    const [from, to] = partBounds(common.length, members.length, i)
    return { members: Int32Array.of(member), common: common.filter((_, c) => c < from || c >= to) }
  })
}

function named({ members, common }: FormedGroup, rankOf: Int32Array): FormedGroup {
  return { members: members.map((label) => rankOf[label]).sort(), common }
}

interface Rounds {
  find(): readonly FormedGroup[]
  serve(groups: readonly FormedGroup[]): void
}

function engineRounds(
  settings: GroupingSettings,
  active: ActiveNeighbors,
  out: ReturnType<typeof distinctOut>,
  meter: ProgressMeter,
  onGroup: GroupingOptions['onGroup'],
): Rounds {
  const { engine, k, theta, nodeOf } = settings
  if (engine === 'exact') {
    const solver = preparedSolver(meter.isWatched)
    return {
      find: () => exactRound(solver, active, settings, meter),
      serve: (groups) => {
        meter.step++
        for (const { members, common } of groups) for (const p of members) active.remove(p, common)
      },
    }
  }
  const friends = friendLists(out, theta, nodeOf, { meter })
  const owners = ownersOf(friends, k)
  if (owners.length === 0) return { find: () => [], serve: () => {} }
  const greedy = new GroupingRounds(owners, friends, active, k, theta, meter, onGroup)
  if (engine === 'greedy') return greedy
  return {
    find: () => improveRound(greedy.find(), friends, active, { k, theta, meter }),
    serve: (groups) => greedy.serve(groups),
  }
}

class GroupsBuilder {
  readonly #ranks: number
  readonly #settings: GroupingSettings
  readonly #step = new GrowingInt32Array()
  readonly #members = new GrowingInt32Array()
  readonly #commonStart = new GrowingInt32Array()
  readonly #common = new GrowingInt32Array()
  #steps = 0

  constructor(ranks: number, settings: GroupingSettings) {
    this.#ranks = ranks
    this.#settings = settings
  }

  /** Members and common neighbors ascend; groups need not. */
  addStep(groups: readonly FormedGroup[]): void {
    for (const { members, common } of [...groups].sort((a, b) => a.members[0] - b.members[0])) {
      this.#step.push(this.#steps)
      this.#members.append(members)
      this.#commonStart.push(this.#common.length)
      this.#common.append(common)
    }
    this.#steps++
  }

  /** @param direct the out-neighbors that no group serves */
  build(direct: NeighborSets): FriendGroups {
    const { k, theta, mode } = this.#settings
    this.#commonStart.push(this.#common.length)
    const commonStart = this.#commonStart.toArray()
    return {
      ranks: this.#ranks,
      k,
      theta,
      mode,
      steps: this.#steps,
      count: this.#step.length,
      step: this.#step.toArray(),
      members: this.#members.toArray(),
      commonStart,
      common: this.#common.toArray(),
      holder: holdersOf(commonStart, k),
      directStart: direct.start,
      direct: direct.rank,
    }
  }
}

/** Groups, and how they were found. */
export interface Grouping extends FriendGroups {
  readonly engine: GroupingEngine
  /** The number of common neighbors of all groups: the messages that each member of a group saves, before exchanges. */
  readonly weight: number
  /** The messages between ranks, if the distributed engine found the groups. */
  readonly messages: GroupingMessages | null
  /**
   * The depth of every round: how many decisions waited for each other, one after the other, however many ranks decide
   * at the same time. It exists if ranks matched themselves, and depends on which messages arrived first.
   */
  readonly waves: readonly number[] | null
  readonly timeMs: number
}
