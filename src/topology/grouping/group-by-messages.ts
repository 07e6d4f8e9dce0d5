import { requireKnownOptions } from '../../base/known-options.js'
import { getOrAdd } from '../../base/maps.js'
import { type FriendGroups, holdersOf } from '../friends/friend-groups.js'
import { GroupSearch } from '../friends/group-search.js'
import {
  type GroupingOptions,
  type GroupingSettings,
  groupingOptions,
  groupingSettings,
  ProgressMeter,
  seededLabels,
} from '../friends/grouping-options.js'
import { distinctIn, distinctOut } from '../neighbors.js'
import { type ProcessTopology, requireTopology } from '../process-topology.js'
import type { Grouping } from './group-friends.js'
import {
  type GroupingAgreement,
  type GroupingMessage,
  type GroupingMessages,
  noMessages,
  type RankNeighbors,
  type RankPattern,
} from './grouping-messages.js'
import { GroupingRank } from './grouping-rank.js'

const { engine: _engine, ...knownOptions } = groupingOptions

/**
 * Simulates all ranks of the engine `distributed` in this process. Returns the groups of `groupFriends`, and the
 * messages and waves that finding them takes. It serves to study the protocol; `groupFriends` finds the same groups
 * sooner.
 *
 * @throws ERR_STRATEGY as `groupFriends`
 * @see Ghazimirsaeed 2019 §7.3.2
 */
export function simulateGrouping(
  topology: ProcessTopology,
  options: Omit<GroupingOptions, 'engine'>,
): Grouping {
  requireTopology(topology)
  requireKnownOptions('simulateGrouping', options, knownOptions)
  const { now = () => performance.now() } = options
  const begin = now()
  const settings = groupingSettings(topology.ranks, { ...options, engine: 'distributed' })
  return {
    ...groupByMessages(topology, settings, new ProgressMeter(options.onProgress)),
    timeMs: now() - begin,
  }
}

/** Friend groups, and the messages and waves that finding them took. */
interface MessageGrouping extends FriendGroups {
  readonly engine: 'distributed'
  /** The number of common neighbors of all groups together. */
  readonly weight: number
  readonly messages: GroupingMessages
  /** The longest chain of decisions of every round. */
  readonly waves: readonly number[]
}

/**
 * Runs all ranks of a topology in one process and delivers their messages in the order in which they are
 * sent.
 */
function groupByMessages(
  topology: ProcessTopology,
  settings: GroupingSettings,
  meter: ProgressMeter,
): MessageGrouping {
  const agreement = agreementFor(topology.ranks, settings)
  const messages = noMessages()
  const search = new GroupSearch(settings.k - 1, meter)
  const queue: { from: number; to: number; message: GroupingMessage }[] = []
  const ranks = rankViews(topology, settings.nodeOf).map(
    (view) =>
      new GroupingRank(view, agreement, search, (to, message) => {
        messages[message.kind]++
        queue.push({ from: view.rank, to, message })
      }),
  )
  for (const rank of ranks) rank.start()
  // A queue that is trimmed when half of it has been delivered.
  for (let next = 0; next < queue.length; next++) {
    const { from, to, message } = queue[next]
    meter.work(1)
    ranks[to].receive(from, message)
    if (next < 2 ** 16 || next * 2 < queue.length) continue
    queue.splice(0, next + 1)
    next = -1
  }
  const groups = groupsOfPatterns(
    topology.ranks,
    ranks.map((rank) => rank.pattern()),
    settings,
  )
  return { ...groups, engine: 'distributed', weight: groups.common.length, messages, waves: wavesOf(ranks) }
}

export function agreementFor(
  ranks: number,
  { k, theta, labelSeed }: Pick<GroupingSettings, 'k' | 'theta' | 'labelSeed'>,
): GroupingAgreement {
  return { ranks, k, theta, labels: labelSeed === null ? null : seededLabels(ranks, labelSeed) }
}

/** Returns for every rank of a topology what it knows at the start. */
export function rankViews(topology: ProcessTopology, nodeOf: Int32Array | null): RankNeighbors[] {
  const out = distinctOut(topology)
  const into = distinctIn(topology)
  return Array.from({ length: topology.ranks }, (_, rank) => {
    const sources = into.rank.subarray(into.start[rank], into.start[rank + 1])
    return {
      rank,
      destinations: out.rank.subarray(out.start[rank], out.start[rank + 1]),
      sources,
      nodes:
        nodeOf === null ? null : { own: nodeOf[rank], ofSources: sources.map((source) => nodeOf[source]) },
    }
  })
}

/** Returns the waves of every round, over all these ranks. */
export function wavesOf(ranks: readonly GroupingRank[]): number[] {
  const waves: number[] = []
  for (const rank of ranks) {
    for (const [round, wave] of rank.waves.entries()) waves[round] = Math.max(waves[round] ?? 0, wave)
  }
  return waves
}

interface KnownGroup {
  readonly step: number
  readonly members: Int32Array
  /** The common neighbors of the group; without a member here only those that are here. */
  common: number[]
  /** The member that serves each. */
  holder: number[]
  whole: boolean
}

/**
 * Assembles friend groups from the patterns of some ranks: all groups with a member among them or that serve one of
 * them, and all direct messages that one of them sends or receives. The patterns of all ranks give all groups.
 *
 * The other ranks are missing: the common neighbors of a group without a member here are only those that are here.
 *
 * @param patterns ascending by rank
 */
export function groupsOfPatterns(
  ranks: number,
  patterns: readonly RankPattern[],
  { k, theta, mode }: Pick<GroupingSettings, 'k' | 'theta' | 'mode'>,
): FriendGroups {
  const known = collectGroups(ranks, patterns)
  const commonStart = new Int32Array(known.length + 1)
  for (const [g, { common }] of known.entries()) commonStart[g + 1] = commonStart[g] + common.length
  const members = new Int32Array(known.length * k)
  const common = new Int32Array(commonStart[known.length])
  const holder = new Int32Array(common.length)
  for (const [g, group] of known.entries()) {
    members.set(group.members, g * k)
    common.set(group.common, commonStart[g])
    holder.set(
      group.holder.map((rank) => group.members.indexOf(rank)),
      commonStart[g],
    )
  }
  const { start, direct } = directRows(ranks, patterns)
  const steps = known.reduce((most, { step }) => Math.max(most, step + 1), 0)
  return {
    ranks,
    k,
    theta,
    mode,
    steps,
    count: known.length,
    step: Int32Array.from(known, ({ step }) => step),
    members,
    commonStart,
    common,
    holder,
    directStart: start,
    direct,
  }
}

function collectGroups(ranks: number, patterns: readonly RankPattern[]): KnownGroup[] {
  const known = new Map<number, KnownGroup>()
  // A rank is in one group of a step.
  const keyOf = (step: number, members: Int32Array): number => step * ranks + members[0]
  for (const { groups } of patterns) {
    for (const { step, members, common } of groups) {
      if (known.has(keyOf(step, members))) continue
      const bounds = holdersOf(Int32Array.of(0, common.length), members.length)
      known.set(keyOf(step, members), {
        step,
        members,
        common: [...common],
        holder: Array.from(bounds, (i) => members[i]),
        whole: true,
      })
    }
  }
  for (const { rank, servedBy } of patterns) {
    for (const { step, members, holder } of servedBy) {
      const key = keyOf(step, members)
      const group = getOrAdd(known, key, () => ({ step, members, common: [], holder: [], whole: false }))
      if (group.whole) continue
      group.common.push(rank)
      group.holder.push(holder)
    }
  }
  return [...known.values()].sort((a, b) => a.step - b.step || a.members[0] - b.members[0])
}

function directRows(
  ranks: number,
  patterns: readonly RankPattern[],
): { start: Int32Array; direct: Int32Array } {
  const isHere = new Uint8Array(ranks)
  for (const { rank } of patterns) isHere[rank] = 1
  const start = new Int32Array(ranks + 1)
  for (const { rank, direct, directSources } of patterns) {
    start[rank + 1] += direct.length
    for (const source of directSources) if (isHere[source] === 0) start[source + 1]++
  }
  for (let r = 0; r < ranks; r++) start[r + 1] += start[r]
  const all = new Int32Array(start[ranks])
  const next = start.slice(0, ranks)
  for (const { rank, direct, directSources } of patterns) {
    all.set(direct, start[rank])
    for (const source of directSources) if (isHere[source] === 0) all[next[source]++] = rank
  }
  return { start, direct: all }
}
