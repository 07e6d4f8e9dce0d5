import { sortedByColorAndKey } from './radix.js'

/** What `split` was told, by rank: color -1 stands for "not a member of any". */
export interface SplitTable {
  readonly color: Int32Array
  readonly key: Int32Array
}

/**
 * Who ends up together: group g has the ranks `members[start[g] .. start[g + 1] - 1]`, in the order of their new
 * ranks. Groups ascend by color.
 */
export interface SplitGroups {
  readonly start: Int32Array
  readonly members: Int32Array
}

/**
 * Split by sorting the whole table in one place: by color, then key, then rank. O(n) time and memory; every process
 * does it for itself (split.md §1, the conventional baseline, sorted once per process instead of once per rank).
 */
export function splitConventional({ color, key }: SplitTable): SplitGroups {
  const members = sortedByColorAndKey(definedRanks(color), color, key)
  const start = new Int32Array(countGroups(members, color) + 1)
  for (let i = 0, group = 0; i < members.length; i++) {
    if (i === 0 || color[members[i]!] !== color[members[i - 1]!]) start[group++] = i
  }
  start[start.length - 1] = members.length
  return { start, members }
}

function countGroups(members: Int32Array, color: Int32Array): number {
  let groups = 0
  for (let i = 0; i < members.length; i++) {
    if (i === 0 || color[members[i]!] !== color[members[i - 1]!]) groups++
  }
  return groups
}

/** Ranks with a color, ascending. Tables are too long for lists of numbers. */
function definedRanks(color: Int32Array): Int32Array {
  let count = 0
  for (let rank = 0; rank < color.length; rank++) if (color[rank] !== -1) count++
  const ranks = new Int32Array(count)
  for (let rank = 0, at = 0; rank < color.length; rank++) if (color[rank] !== -1) ranks[at++] = rank
  return ranks
}
