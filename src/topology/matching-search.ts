import { countCommon } from './bit-rows.js'
import type { FriendLists } from './friendship.js'
import { FriendRows } from './friendship-rows.js'
import type { OpenSets } from './open-sets.js'

/**
 * Finds the best group that a rank owns: of all groups of k friends whose smallest member is p, the one with most
 * common neighbors, among equals the lexicographically smallest. Exact branch and bound over p's friends.
 */
export class BestGroupSearch {
  /** The friends of the last answer besides p, ascending. Length `k - 1`. */
  readonly found: Int32Array
  /** Whether the last search had to leave out a friend that is not available. */
  skippedAny = false
  readonly #theta: number
  readonly #rows: FriendRows
  /** Friend lists with an end of their own: a pair that fails the threshold never comes back. */
  readonly #friendStart: Int32Array
  readonly #friendEnd: Int32Array
  readonly #friend: Int32Array
  readonly #order: Float64Array[]
  #best = 0
  #atMost = 0

  /** @param active the out-neighbors not served yet, which may shrink between searches */
  constructor(friends: FriendLists, active: OpenSets, k: number, theta: number) {
    this.found = new Int32Array(k - 1)
    this.#theta = theta
    this.#rows = new FriendRows(active, k - 1)
    this.#friendStart = friends.start
    this.#friendEnd = friends.start.slice(1)
    this.#friend = friends.rank
    this.#order = this.#rows.levels.map(() => new Float64Array(0))
  }

  /**
   * The weight of p's best group among ranks with `used[f] === 0`, which `found` then names; 0 when there is none.
   *
   * @param atLeast a weight that is known to be reached, or 0
   * @param atMost a weight that no group of p exceeds
   */
  search(p: number, used: Uint8Array, atLeast: number, atMost: number): number {
    const picks = this.found.length
    const floor = Math.max(this.#theta, atLeast - 1)
    this.#best = floor
    this.#atMost = atMost
    this.#readFriends(p, used)
    if (this.#rows.levels[0].count < picks) return 0
    this.#heaviest(0, picks)
    if (this.#best === floor) return 0
    this.#first(0, picks, this.#best)
    return this.#best
  }

  #readFriends(p: number, used: Uint8Array): void {
    const rows = this.#rows
    const first = this.#friendStart[p]
    const last = this.#friendEnd[p]
    this.skippedAny = false
    let kept = first
    rows.open(p, last - first)
    for (let i = first; i < last; i++) {
      const f = this.#friend[i]
      if (used[f] !== 0) this.skippedAny = true
      else if (rows.add(f, this.#best) <= this.#theta) continue
      this.#friend[kept++] = f
    }
    rows.close(p)
    this.#friendEnd[p] = kept
  }

  /** Raises `best` to the largest weight of a group with `picks` more members from this level. */
  #heaviest(depth: number, picks: number): void {
    const { count, size, bits } = this.#rows.levels[depth]
    if (picks === 1) {
      for (let i = 0; i < count; i++) if (size[i] > this.#best) this.#best = size[i]
      return
    }
    const words = this.#rows.words
    const order = this.#bySizeDescending(depth)
    for (let i = 0; i + picks <= count; i++) {
      // A group that starts here has a member no larger than the (i + picks - 1)-th.
      if (size[order[i + picks - 1]] <= this.#best || this.#best >= this.#atMost) return
      const a = order[i]
      if (picks > 2) this.#rows.clear(depth + 1, count)
      for (let j = i + 1; j < count; j++) {
        const b = order[j]
        if (size[b] <= this.#best) break
        if (picks > 2) {
          this.#rows.addBelow(depth, a, b, this.#best)
        } else {
          const weight = countCommon(bits, a * words, b * words, words)
          if (weight > this.#best) this.#best = weight
        }
      }
      if (picks > 2 && this.#rows.levels[depth + 1].count >= picks - 1) this.#heaviest(depth + 1, picks - 1)
    }
  }

  /** Finds the lexicographically first group of the weight `target`, which none exceeds. */
  #first(depth: number, picks: number, target: number): boolean {
    const { count, rank, size, bits } = this.#rows.levels[depth]
    const words = this.#rows.words
    const place = this.found.length - picks
    for (let i = 0; i + picks <= count; i++) {
      if (size[i] < target) continue
      this.found[place] = rank[i]
      if (picks === 1) return true
      if (picks > 2) this.#rows.clear(depth + 1, count)
      for (let j = i + 1; j < count; j++) {
        if (size[j] < target) continue
        if (picks > 2) {
          this.#rows.addBelow(depth, i, j, target - 1)
        } else if (countCommon(bits, i * words, j * words, words) === target) {
          this.found[place + 1] = rank[j]
          return true
        }
      }
      if (picks > 2 && this.#rows.levels[depth + 1].count >= picks - 1) {
        if (this.#first(depth + 1, picks - 1, target)) return true
      }
    }
    return false
  }

  /** Indices of a level's candidates, largest first. Valid until the level is filled again. */
  #bySizeDescending(depth: number): Float64Array {
    const { count, size } = this.#rows.levels[depth]
    if (this.#order[depth].length < count) this.#order[depth] = new Float64Array(count * 2)
    const order = this.#order[depth]
    // Size and index in one number: exact below 2^53, and sorted without a comparator.
    for (let i = 0; i < count; i++) order[i] = -size[i] * count + i
    order.subarray(0, count).sort()
    for (let i = 0; i < count; i++) order[i] -= Math.floor(order[i] / count) * count
    return order
  }
}
