import type { NeighborSets } from '../neighbors.js'

/** Sets of ranks as compressed rows that may end before the next one begins. */
export interface OpenSets {
  /** The set of p is `rank[start[p]] .. rank[end[p] - 1]`, ascending. */
  readonly start: Int32Array
  readonly end: Int32Array
  readonly rank: Int32Array
  /** Bitsets of the same sets, if these are shorter than the lists; else null. */
  readonly dense: DenseSets | null
}

/** Set p is words `p * words` to `(p + 1) * words - 1`. */
export interface DenseSets {
  readonly words: number
  readonly bits: Int32Array
}

export function denseSets({ start, rank }: NeighborSets): DenseSets | null {
  const ranks = start.length - 1
  const words = (ranks + 31) >> 5
  if (words * ranks > rank.length) return null
  const bits = new Int32Array(words * ranks)
  for (let p = 0; p < ranks; p++) {
    for (let e = start[p]; e < start[p + 1]; e++) bits[p * words + (rank[e] >> 5)] |= 1 << (rank[e] & 31)
  }
  return { words, bits }
}
