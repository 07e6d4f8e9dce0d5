/**
 * Groups of k ranks with common out-neighbors, disjoint within a step: a grouping of the friendship
 * hypergraph, and all that the common-neighbor strategy needs (Ghazimirsaeed 2019 §7.2-7.3; order and
 * threshold: docs/decisions/0003). Compressed rows; groups sorted by (step, members).
 */
export interface FriendGroups {
  readonly ranks: number
  readonly k: number
  /** Groups exist iff they have strictly more than theta common neighbors. */
  readonly theta: number
  readonly mode: 'agnostic' | 'aware'
  /** The number of rounds of grouping; a rank is in at most one group per step. */
  readonly steps: number
  readonly count: number
  /** The step of every group, 0-based, ascending. Length `count`. */
  readonly step: Int32Array
  /** `k` member ranks per group, ascending. Length `count * k`. */
  readonly members: Int32Array
  /** Length `count + 1`. */
  readonly commonStart: Int32Array
  /** The common out-neighbors of every group, ascending. Member i serves the i-th of k contiguous parts. */
  readonly common: Int32Array
  /** The member, 0 to k-1, that serves each of them. Parallel to `common`. */
  readonly holder: Int32Array
  /** Length `ranks + 1`. */
  readonly directStart: Int32Array
  /** The out-neighbors of every rank that no group serves, ascending, without itself and without repetition. */
  readonly direct: Int32Array
}

/** Returns the member that serves each common neighbor, for groups whose common neighbors are all known. */
export function holdersOf(commonStart: Int32Array, k: number): Int32Array {
  const groups = commonStart.length - 1
  const holder = new Int32Array(commonStart[groups])
  for (let g = 0; g < groups; g++) {
    const first = commonStart[g]
    for (let i = 0; i < k; i++) {
      const [from, to] = partBounds(commonStart[g + 1] - first, k, i)
      holder.fill(i, first + from, first + to)
    }
  }
  return holder
}

/**
 * Returns the bounds of part `i` of `m` common neighbors distributed over `k` parts: the first `m mod k` parts get one
 * more (Eq. 7.2).
 */
export function partBounds(m: number, k: number, i: number): readonly [from: number, to: number] {
  const base = Math.floor(m / k)
  const extra = m % k
  const from = i * base + Math.min(i, extra)
  return [from, from + base + (i < extra ? 1 : 0)]
}
