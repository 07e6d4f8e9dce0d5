import { rowWord } from './rows.js'
import { sortRows } from './sort-rows.js'

const arrays = new Map<string, Int32Array>()

/**
 * The longest array that is retained; longer ones are allocated for each use, so that one large split does not retain
 * memory.
 */
const longest = 4096

/**
 * Returns scratch memory, valid until control returns to the event loop; not cleared. Allocating arrays of more than a
 * few words would dominate the cost of a small split.
 */
export function scratch(name: string, length: number): Int32Array {
  if (length > longest) return new Int32Array(length)
  let array = arrays.get(name)
  if (array === undefined) {
    array = new Int32Array(longest)
    arrays.set(name, array)
  }
  return array.subarray(0, length)
}

/** The arguments of a split, by rank; color -1 means null: not a member of any communicator. */
export interface SplitArguments {
  readonly color: Int32Array
  readonly key: Int32Array
}

/**
 * The resulting groups: group g has the ranks `members[start[g] .. start[g + 1] - 1]`, in the order of their new ranks.
 * Groups ascend by color.
 */
export interface SplitGroups {
  readonly start: Int32Array
  readonly members: Int32Array
}

/**
 * Splits by sorting the whole table in one place: by color, then key, then rank. O(n) time and memory. Every process
 * does it for itself, once instead of once per rank (docs/split-algorithms.md#conventional-and-merging).
 */
export function groupsOfTable({ color, key }: SplitArguments): SplitGroups {
  let rows = 0
  for (let rank = 0; rank < color.length; rank++) if (color[rank] !== -1) rows++
  const words = scratch('rows', rows * width)
  for (let rank = 0, at = 0; rank < color.length; rank++) {
    if (color[rank] === -1) continue
    words[at] = color[rank]
    words[at + rowWord.key] = key[rank]
    words[at + rowWord.rank] = rank
    at += width
  }
  // Ranks ascend, and the sort is stable.
  return groupsOf(sortRows(width, words, scratch('spare rows', rows * width)))
}

const width = 3

function groupsOf(sorted: Int32Array): SplitGroups {
  const members = new Int32Array(sorted.length / width)
  const start = new Int32Array(countGroups(sorted) + 1)
  for (let i = 0, at = 0, group = 0; i < members.length; i++, at += width) {
    members[i] = sorted[at + rowWord.rank]
    if (startsGroup(sorted, at)) start[group++] = i
  }
  start[start.length - 1] = members.length
  return { start, members }
}

function countGroups(sorted: Int32Array): number {
  let groups = 0
  for (let at = 0; at < sorted.length; at += width) if (startsGroup(sorted, at)) groups++
  return groups
}

function startsGroup(sorted: Int32Array, at: number): boolean {
  return at === 0 || sorted[at] !== sorted[at - width]
}
