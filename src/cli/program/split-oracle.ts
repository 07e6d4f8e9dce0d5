import { getOrAdd } from '../../base/maps.js'
/** The result of a split for every rank. */
export interface ExpectedPlaces {
  /** Group g, one per color in the order of their first ranks: `members[start[g] .. start[g + 1] - 1]` in new order. */
  readonly start: Int32Array
  readonly members: Int32Array
  /** The group of each rank; below, its rank there. -1 for none. */
  readonly group: Int32Array
  readonly rank: Int32Array
}

/**
 * Splits by MPI's definition: equal colors together, ordered by key, ties by rank; color -1 for none. Shares no code
 * with the splits that it checks. Time: O(n lg n). Key and rank of a member are one number, exact since a world has at
 * most 2^22 ranks. The engine sorts those of each color.
 */
export function placesByDefinition(color: Int32Array, key: Int32Array): ExpectedPlaces {
  const ranks = color.length
  const { group, start } = groupsOf(color)
  const ordered = new Float64Array(start[start.length - 1])
  const next = start.slice()
  for (let rank = 0; rank < ranks; rank++) {
    const g = group[rank]
    if (g >= 0) ordered[next[g]++] = key[rank] * ranks + rank
  }
  const members = new Int32Array(ordered.length)
  const place = new Int32Array(ranks).fill(-1)
  for (let g = 0; g + 1 < start.length; g++) {
    const from = start[g]
    const to = start[g + 1]
    if (to - from > 1) ordered.subarray(from, to).sort()
    for (let at = from; at < to; at++) {
      const rank = ((ordered[at] % ranks) + ranks) % ranks
      members[at] = rank
      place[rank] = at - from
    }
  }
  return { start, members, group, rank: place }
}

function groupsOf(color: Int32Array): Pick<ExpectedPlaces, 'group' | 'start'> {
  const groupOf = new Map<number, number>()
  const sizes: number[] = []
  const group = color.map((each) => {
    if (each < 0) return -1
    const g = getOrAdd(groupOf, each, () => sizes.push(0) - 1)
    sizes[g]++
    return g
  })
  const start = new Int32Array(sizes.length + 1)
  for (let g = 0; g < sizes.length; g++) start[g + 1] = start[g] + sizes[g]
  return { group, start }
}
