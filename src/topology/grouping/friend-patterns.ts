import { getOrAdd } from '../../base/maps.js'
import { type FriendGroups, holdersOf } from '../friends/friend-groups.js'
import type { GroupingSettings } from '../friends/grouping-options.js'
import type { RankPattern } from './grouping-messages.js'

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
