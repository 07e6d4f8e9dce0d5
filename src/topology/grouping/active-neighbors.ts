import { type DenseSets, denseSets, type OpenSets } from '../friends/friend-rows.js'
import type { NeighborSets } from '../neighbors.js'

/** Every rank's out-neighbors that no group serves yet. Rows only shrink, and stay ascending. */
export class ActiveNeighbors implements OpenSets {
  /** The neighbors of p are `rank[start[p]] .. rank[end[p] - 1]`. */
  readonly start: Int32Array
  readonly end: Int32Array
  readonly rank: Int32Array
  readonly dense: DenseSets | null

  constructor(out: NeighborSets) {
    this.start = out.start
    this.end = out.start.slice(1)
    this.rank = out.rank.slice()
    this.dense = denseSets(out)
  }

  /** Returns the neighbors that all `members` have in common, ascending: CN in the paper. */
  common(members: Int32Array): Int32Array {
    const common = this.rank.slice(this.start[members[0]], this.end[members[0]])
    let length = common.length
    for (let i = 1; i < members.length; i++) length = this.#keepShared(common, length, members[i])
    return common.slice(0, length)
  }

  /**
   * Intersects the first `length` ranks, which ascend, with p's neighbors in place. Returns how many remain.
   */
  #keepShared(ranks: Int32Array, length: number, p: number): number {
    let kept = 0
    if (this.dense !== null) {
      const { bits, words } = this.dense
      const row = p * words
      for (let i = 0; i < length; i++) {
        const q = ranks[i]
        ranks[kept] = q
        kept += (bits[row + (q >> 5)] >>> (q & 31)) & 1
      }
      return kept
    }
    const end = this.end[p]
    let e = this.start[p]
    for (let i = 0; i < length; i++) {
      const q = ranks[i]
      while (e < end && this.rank[e] < q) e++
      if (e === end) break
      if (this.rank[e] === q) ranks[kept++] = q
    }
    return kept
  }

  /** Removes `served`, an ascending subset, from p's neighbors. */
  remove(p: number, served: Int32Array): void {
    let kept = this.start[p]
    let s = 0
    for (let e = this.start[p]; e < this.end[p]; e++) {
      const q = this.rank[e]
      if (s < served.length && served[s] === q) s++
      else this.rank[kept++] = q
    }
    this.end[p] = kept
    if (this.dense === null) return
    const { bits, words } = this.dense
    for (const q of served) bits[p * words + (q >> 5)] &= ~(1 << (q & 31))
  }

  /** Returns the remaining neighbors as compressed rows. */
  toSets(): NeighborSets {
    const ranks = this.end.length
    const start = new Int32Array(ranks + 1)
    for (let p = 0; p < ranks; p++) start[p + 1] = start[p] + this.end[p] - this.start[p]
    const rank = new Int32Array(start[ranks])
    let next = 0
    for (let p = 0; p < ranks; p++)
      for (let e = this.start[p]; e < this.end[p]; e++) rank[next++] = this.rank[e]
    return { start, rank }
  }
}
