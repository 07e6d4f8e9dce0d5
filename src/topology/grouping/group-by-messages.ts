import type { FriendGroups } from '../friends/friend-groups.js'
import { GroupSearch } from '../friends/group-search.js'
import { type GroupingSettings, type ProgressMeter, seededLabels } from '../friends/grouping-options.js'
import { distinctIn, distinctOut } from '../neighbors.js'
import type { ProcessTopology } from '../process-topology.js'
import { groupsOfPatterns } from './friend-patterns.js'
import {
  type GroupingAgreement,
  type GroupingMessage,
  type GroupingMessages,
  noMessages,
  type RankNeighbors,
} from './grouping-messages.js'
import { GroupingRank } from './grouping-rank.js'

/** Friend groups, and the messages and waves that finding them took. */
export interface MessageGrouping extends FriendGroups {
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
export function groupByMessages(
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
