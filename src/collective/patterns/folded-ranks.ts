/**
 * How algorithms for powers of two serve any number of ranks. The core is the largest power of two; for every
 * rank beyond it, one pair of the first ranks is folded: the even rank of a pair hands what it has to the odd
 * one, which takes part for both. Adjacent ranks are folded, so that the order of ranks remains.
 *
 * @see Pjesivac-Grbovic 2007 §4.1; Thakur, Rabenseifner, Gropp 2005, Optimization of Collective Communication
 *   Operations in MPICH
 */
export interface FoldedRanks {
  /** A power of two. */
  readonly core: number
  /** Pairs folded. */
  readonly pairs: number
}

export function foldedRanks(ranks: number): FoldedRanks {
  const core = 2 ** (31 - Math.clz32(ranks))
  return { core, pairs: ranks - core }
}

/** The number of a rank in the core; -1 if another rank takes part for it. */
export function coreIndex({ pairs }: FoldedRanks, rank: number): number {
  if (rank >= 2 * pairs) return rank - pairs
  return rank % 2 === 1 ? (rank - 1) / 2 : -1
}

/** The rank that takes part as the core's `index`. */
export function coreRank({ pairs }: FoldedRanks, index: number): number {
  return index < pairs ? 2 * index + 1 : index + pairs
}

/** The phase in which the core starts, counted from that in which pairs are folded, if there are any. */
export function coreStart({ pairs }: FoldedRanks): number {
  return pairs > 0 ? 1 : 0
}
