import type { FriendLists } from '../friends/friend-lists.js'
import type { ProgressMeter } from '../friends/grouping-options.js'
import type { ActiveNeighbors } from './active-neighbors.js'
import { BestGroupSearch } from './best-group-search.js'
import { RankHeap } from './rank-heap.js'

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
