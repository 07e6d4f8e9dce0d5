import type { FriendLists } from '../friends/friend-lists.js'
import { FriendRows, type OpenSets } from '../friends/friend-rows.js'
import { GroupSearch } from '../friends/group-search.js'
import type { ProgressMeter } from '../friends/grouping-options.js'

/** Finds the best group that a rank owns: of all groups of k friends whose smallest member is p. */
export class BestGroupSearch {
  /** The friends of the last answer besides p, ascending. Length `k - 1`. */
  readonly found: Int32Array
  /** Whether the last search left out a friend that was not available. */
  skippedAny = false
  readonly #theta: number
  readonly #search: GroupSearch
  readonly #rows: FriendRows
  /** Friend lists that shrink: a pair that falls below the threshold never exceeds it again. */
  readonly #friendStart: Int32Array
  readonly #friendEnd: Int32Array
  readonly #friend: Int32Array

  /** @param active the out-neighbors not served yet, which may shrink between searches */
  constructor(friends: FriendLists, active: OpenSets, k: number, theta: number, meter: ProgressMeter) {
    this.#theta = theta
    this.#search = new GroupSearch(k - 1, meter)
    this.found = this.#search.found
    this.#rows = new FriendRows(active, this.#search.rows)
    this.#friendStart = friends.start
    this.#friendEnd = friends.start.slice(1)
    this.#friend = friends.rank
  }

  /**
   * Returns the weight of p's best group among ranks with `used[f] === 0`, which `found` then names; 0 when there is
   * none.
   *
   * @param atLeast a weight that is known to be reached, or 0
   * @param atMost a weight that no group of p exceeds
   */
  search(p: number, used: Uint8Array, atLeast: number, atMost: number): number {
    const floor = Math.max(this.#theta, atLeast - 1)
    this.#readFriends(p, used, floor)
    return this.#search.search(floor, atMost)
  }

  #readFriends(p: number, used: Uint8Array, floor: number): void {
    const rows = this.#rows
    const first = this.#friendStart[p]
    const last = this.#friendEnd[p]
    this.skippedAny = false
    let kept = first
    rows.open(p, last - first)
    for (let i = first; i < last; i++) {
      const f = this.#friend[i]
      if (used[f] !== 0) this.skippedAny = true
      else if (rows.add(f, floor) <= this.#theta) continue
      this.#friend[kept++] = f
    }
    rows.close(p)
    this.#friendEnd[p] = kept
  }
}
