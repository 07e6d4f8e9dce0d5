import type { OpenSets } from '../friends/friend-rows.js'

/** The most ranks in a pool: all their subsets are visited. */
export const largestPool = 12

/** The heaviest grouping of few ranks: dynamic programming over the subsets that are still free. */
export class PoolGrouping {
  readonly #sets: OpenSets
  readonly #k: number
  readonly #theta: number
  /** The number of out-neighbors that all ranks of a subset have. */
  readonly #weight = new Int32Array(1 << largestPool)
  /** The weight of the heaviest grouping of a subset, -1 while unknown, and its group of the first rank, 0 for none. */
  readonly #best = new Int32Array(1 << largestPool)
  readonly #taken = new Int32Array(1 << largestPool)
  /** The pool members that send to a rank. */
  readonly #senders: Int32Array
  /** The groups by their first member. */
  #steps = 0
  readonly #groups: number[][] = Array.from({ length: largestPool }, () => [])

  constructor(sets: OpenSets, k: number, theta: number) {
    this.#sets = sets
    this.#k = k
    this.#theta = theta
    this.#senders = new Int32Array(sets.end.length)
  }

  /** The number of subsets and groups that the last pool visited. */
  get steps(): number {
    return this.#steps
  }

  /** Returns the heaviest grouping of the pool, if it is heavier than the current groups of its ranks; else null. */
  regroup(pool: readonly number[], present: readonly Int32Array[]): Int32Array[] | null {
    this.#steps = 0
    if (pool.length < this.#k) return null
    this.#weigh(pool)
    let weight = 0
    for (const members of present) {
      let group = 0
      for (const p of members) group |= 1 << pool.indexOf(p)
      weight += this.#weight[group]
    }
    this.#listGroups(pool.length)
    const all = (1 << pool.length) - 1
    this.#best.fill(-1, 0, all + 1)
    if (this.#heaviest(all) <= weight) return null
    const found: Int32Array[] = []
    for (let free = all; free !== 0; ) {
      const group = this.#taken[free]
      if (group !== 0) found.push(Int32Array.from(pool.filter((_, i) => ((group >> i) & 1) !== 0)))
      free &= group === 0 ? free - 1 : ~group
    }
    return found
  }

  /** Counts, for every subset of the pool, the out-neighbors that all its ranks have: sums over supersets. */
  #weigh(pool: readonly number[]): void {
    const { start, end, rank } = this.#sets
    const weight = this.#weight
    const senders = this.#senders
    const subsets = 1 << pool.length
    this.#steps += subsets * pool.length
    weight.fill(0, 0, subsets)
    for (const [i, p] of pool.entries()) for (let e = start[p]; e < end[p]; e++) senders[rank[e]] |= 1 << i
    for (const p of pool) {
      for (let e = start[p]; e < end[p]; e++) {
        weight[senders[rank[e]]]++
        senders[rank[e]] = 0
      }
    }
    weight[0] = 0
    for (let bit = 1; bit < subsets; bit <<= 1) {
      for (let subset = 0; subset < subsets; subset++) {
        if ((subset & bit) === 0) weight[subset] += weight[subset | bit]
      }
    }
  }

  #listGroups(poolSize: number): void {
    const k = this.#k
    for (const list of this.#groups) list.length = 0
    const subsets = 2 ** poolSize
    // Subsets of k, ascending (Gosper's hack).
    for (let group = 2 ** k - 1; group < subsets; ) {
      if (this.#weight[group] > this.#theta) this.#groups[31 - Math.clz32(group & -group)].push(group)
      const low = group & -group
      const next = group + low
      group = (((next ^ group) >>> 2) / low) | next
    }
  }

  #heaviest(free: number): number {
    if (free === 0) return 0
    if (this.#best[free] >= 0) return this.#best[free]
    let best = this.#heaviest(free & (free - 1))
    let taken = 0
    const groups = this.#groups[31 - Math.clz32(free & -free)]
    this.#steps += 1 + groups.length
    for (const group of groups) {
      if ((group & ~free) !== 0) continue
      const weight = this.#weight[group] + this.#heaviest(free & ~group)
      if (weight <= best) continue
      best = weight
      taken = group
    }
    this.#best[free] = best
    this.#taken[free] = taken
    return best
  }
}
