import { sortedByValue } from './radix.js'

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
  const defined = color.includes(-1)
    ? Int32Array.from(definedRanks(color))
    : Int32Array.from(color, (_, rank) => rank)
  const members = sortedByValue(sortedByValue(defined, key), color)
  const start: number[] = []
  for (let i = 0; i < members.length; i++) {
    if (i === 0 || color[members[i]!] !== color[members[i - 1]!]) start.push(i)
  }
  start.push(members.length)
  return { start: Int32Array.from(start), members }
}

function definedRanks(color: Int32Array): number[] {
  const ranks: number[] = []
  for (let rank = 0; rank < color.length; rank++) {
    if (color[rank] !== -1) ranks.push(rank)
  }
  return ranks
}
