import type { FriendLists } from '../friends/friend-lists.js'
import { type DenseSets, denseSets, FriendRows, type OpenSets } from '../friends/friend-rows.js'
import { GroupSearch } from '../friends/group-search.js'
import type { ProgressMeter } from '../friends/grouping-options.js'
import type { NeighborSets } from '../neighbors.js'

export interface FormedGroup {
  readonly members: Int32Array
  readonly common: Int32Array
}

/**
 * The rounds of the greedy grouping. Every rank p owns the groups in which it is the smallest member and
 * caches the best of them, found with all ranks available. Neighbor sets only shrink, so a cached best is an
 * upper bound forever, and exact as long as no member has changed since.
 */
export class GroupingRounds {
  readonly #k: number
  readonly #active: ActiveNeighbors
  readonly #search: BestGroupSearch
  readonly #heap: RankHeap
  /** The owners that may still have a group. */
  readonly #owners: Int32Array
  #ownerCount: number
  #round = 0
  /** The first round that sees a rank's current neighbors. */
  readonly #changedAt: Int32Array
  readonly #cached: Bests
  /** The groups of the round: the cache, corrected for ranks already used in the round. */
  readonly #current: Bests
  readonly #used: Uint8Array
  readonly #onGroup: (step: number, groups: number) => void
  readonly #meter: ProgressMeter

  /** @param owners ranks with at least k-1 friends of larger rank, ascending */
  constructor(
    owners: Int32Array,
    friends: FriendLists,
    active: ActiveNeighbors,
    k: number,
    theta: number,
    meter: ProgressMeter,
    onGroup: (step: number, groups: number) => void = () => {},
  ) {
    this.#onGroup = onGroup
    this.#meter = meter
    const ranks = active.end.length
    this.#k = k
    this.#active = active
    this.#search = new BestGroupSearch(friends, active, k, theta, meter)
    this.#cached = new Bests(ranks, owners, k)
    this.#current = new Bests(ranks, owners, k)
    this.#heap = new RankHeap(this.#current.weight)
    this.#changedAt = new Int32Array(ranks)
    this.#used = new Uint8Array(ranks)
    this.#owners = owners.slice()
    this.#ownerCount = owners.length
    for (const p of owners) {
      // The group is not computed yet: it is outdated from the start, and bounded by p's degree.
      this.#cached.weight[p] = active.end[p] - active.start[p]
      this.#cached.computedAt[p] = -1
    }
  }

  /**
   * Returns the groups of the next round, by members. Empty when no groups are left. Nothing changes before `serve`.
   */
  find(): readonly FormedGroup[] {
    const groups: FormedGroup[] = []
    this.#current.copyFrom(this.#cached)
    this.#used.fill(0)
    this.#dropOwnersWithout()
    const heap = this.#heap
    heap.fill(this.#owners, this.#ownerCount)
    while (heap.size > 0) {
      const p = heap.top()
      if (this.#used[p] !== 0) {
        heap.pop()
      } else if (this.#isExact(p)) {
        groups.push(this.#take(p))
        this.#onGroup(this.#round, ++this.#meter.groups)
        heap.pop()
      } else if (this.#recompute(p)) {
        heap.settleTop()
      } else {
        heap.pop()
      }
    }
    return groups.sort((a, b) => a.members[0] - b.members[0])
  }

  /**
   * Ends the round: members lose the neighbors that these groups serve, whether `find` returned them or not.
   */
  serve(groups: readonly FormedGroup[]): void {
    this.#meter.step = ++this.#round
    for (const { members, common } of groups) {
      for (const p of members) {
        this.#active.remove(p, common)
        this.#changedAt[p] = this.#round
      }
    }
  }

  #dropOwnersWithout(): void {
    let kept = 0
    for (let i = 0; i < this.#ownerCount; i++) {
      const p = this.#owners[i]
      if (this.#cached.weight[p] > 0) this.#owners[kept++] = p
    }
    this.#ownerCount = kept
  }

  /** Whether p's current best is its best among the ranks still available. */
  #isExact(p: number): boolean {
    return this.#isUpToDate(p) && this.#allAvailable(p)
  }

  #isUpToDate(p: number): boolean {
    const at = this.#current.computedAt[p]
    if (at < this.#changedAt[p]) return false
    const { others } = this.#current
    const first = this.#current.first(p)
    for (let i = first; i < first + this.#k - 1; i++) if (at < this.#changedAt[others[i]]) return false
    return true
  }

  #allAvailable(p: number): boolean {
    const { others } = this.#current
    const first = this.#current.first(p)
    for (let i = first; i < first + this.#k - 1; i++) if (this.#used[others[i]] !== 0) return false
    return true
  }

  /** Searches p's best group again. False when p has none left in this round. */
  #recompute(p: number): boolean {
    const current = this.#current
    // If all members of the former best are available, its remaining weight is reached.
    const known = current.computedAt[p] >= 0 && this.#allAvailable(p)
    const atLeast = known ? this.#active.common(this.#members(p)).length : 0
    const weight = this.#search.search(p, this.#used, atLeast, current.weight[p])
    current.set(p, weight, this.#search.found, this.#round)
    // Found with every friend available, so it holds beyond this round.
    if (!this.#search.skippedAny) this.#cached.set(p, weight, this.#search.found, this.#round)
    return weight > 0
  }

  #take(p: number): FormedGroup {
    const members = this.#members(p)
    for (const q of members) this.#used[q] = 1
    return { members, common: this.#active.common(members) }
  }

  #members(p: number): Int32Array {
    const members = new Int32Array(this.#k)
    members[0] = p
    const first = this.#current.first(p)
    members.set(this.#current.others.subarray(first, first + this.#k - 1), 1)
    return members
  }
}

/** The best group of every owner. Weight 0: none. */
class Bests {
  readonly weight: Int32Array
  readonly computedAt: Int32Array
  /** The members besides the owner, ascending, `k - 1` per owner. */
  readonly others: Int32Array
  readonly #ownerIndex: Int32Array
  readonly #othersPerOwner: number

  constructor(ranks: number, owners: Int32Array, k: number) {
    this.weight = new Int32Array(ranks)
    this.computedAt = new Int32Array(ranks)
    this.others = new Int32Array(owners.length * (k - 1))
    this.#ownerIndex = new Int32Array(ranks)
    for (let i = 0; i < owners.length; i++) this.#ownerIndex[owners[i]] = i
    this.#othersPerOwner = k - 1
  }

  /** Returns the place in `others` at which those of owner p begin. */
  first(p: number): number {
    return this.#ownerIndex[p] * this.#othersPerOwner
  }

  set(p: number, weight: number, others: Int32Array, round: number): void {
    this.weight[p] = weight
    this.others.set(others, this.first(p))
    this.computedAt[p] = round
  }

  copyFrom(source: Bests): void {
    this.weight.set(source.weight)
    this.others.set(source.others)
    this.computedAt.set(source.computedAt)
  }
}

/** Finds the best group that a rank owns: of all groups of k friends whose smallest member is p. */
class BestGroupSearch {
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

/** Ranks ordered by weight, the heaviest first, equal weights by smaller rank. A binary heap. */
class RankHeap {
  size = 0
  readonly #items: Int32Array
  readonly #weight: Int32Array

  /** `weight[p]` orders rank p; it is read on demand. After lowering the top's weight call `settleTop`. */
  constructor(weight: Int32Array) {
    this.#weight = weight
    this.#items = new Int32Array(weight.length)
  }

  fill(ranks: Int32Array, count: number): void {
    this.#items.set(count === ranks.length ? ranks : ranks.subarray(0, count))
    this.size = count
    for (let i = (count >> 1) - 1; i >= 0; i--) this.#sink(i)
  }

  top(): number {
    return this.#items[0]
  }

  pop(): void {
    this.#items[0] = this.#items[--this.size]
    this.#sink(0)
  }

  settleTop(): void {
    this.#sink(0)
  }

  #sink(from: number): void {
    const items = this.#items
    const rank = items[from]
    let at = from
    for (;;) {
      let child = 2 * at + 1
      if (child >= this.size) break
      if (child + 1 < this.size && this.#before(items[child + 1], items[child])) child++
      if (!this.#before(items[child], rank)) break
      items[at] = items[child]
      at = child
    }
    items[at] = rank
  }

  #before(a: number, b: number): boolean {
    const difference = this.#weight[a] - this.#weight[b]
    return difference > 0 || (difference === 0 && a < b)
  }
}
