import { transposeRows } from '../compressed-rows.js'
import type { FriendLists } from '../friends/friend-lists.js'
import type { OpenSets } from '../friends/friend-rows.js'
import type { ProgressMeter } from '../friends/grouping-options.js'
import type { ActiveNeighbors, FormedGroup } from './grouping-rounds.js'

/** The number of neighboring groups with which a group is dissolved, in turn: those that share most friends with it. */
const partners = 6

/**
 * Improves a round's grouping by local search: it dissolves neighboring groups, adds friends of theirs that have no
 * group, and regroups this pool of ranks optimally. That covers swaps of members between groups and with free ranks,
 * splits and merges. It repeats until no pool improves, and never returns a lighter grouping. Groups of more than
 * {@link largestPool} stay as they are.
 */
export function improveRound(
  found: readonly FormedGroup[],
  friends: FriendLists,
  active: ActiveNeighbors,
  settings: ImproveSettings,
): readonly FormedGroup[] {
  if (found.length === 0 || settings.k > largestPool) return found
  return new RoundImprover(found, friends, active, settings).run()
}

/** The time to count a friend in a map, in steps of the search. */
const stepsPerFriend = 16

interface ImproveSettings {
  readonly k: number
  readonly theta: number
  readonly meter: ProgressMeter
}

class RoundImprover {
  readonly #groups: Int32Array[]
  /** The group of every rank, -1 without one. */
  readonly #groupOf: Int32Array
  readonly #smaller: ReturnType<typeof transposeRows>
  readonly #friends: FriendLists
  readonly #active: ActiveNeighbors
  readonly #k: number
  readonly #pool: PoolGrouping
  readonly #meter: ProgressMeter
  /** The time at which a rank's group last changed, counted in changes of groups. */
  readonly #changedAt: Int32Array
  #now = 0

  constructor(
    found: readonly FormedGroup[],
    friends: FriendLists,
    active: ActiveNeighbors,
    { k, theta, meter }: ImproveSettings,
  ) {
    this.#meter = meter
    const ranks = active.end.length
    this.#groups = found.map(({ members }) => members)
    this.#groupOf = new Int32Array(ranks).fill(-1)
    for (const [g, members] of this.#groups.entries()) for (const p of members) this.#groupOf[p] = g
    this.#friends = friends
    this.#smaller = transposeRows(ranks, friends)
    this.#active = active
    this.#k = k
    this.#pool = new PoolGrouping(active, k, theta)
    this.#changedAt = new Int32Array(ranks)
  }

  run(): readonly FormedGroup[] {
    this.#meter.activity = 'improving'
    // A pool is tried again only after one of its ranks has moved.
    const triedAt = new Map<string, number>()
    for (let gained = true; gained; ) {
      gained = false
      for (let g = 0; g < this.#groups.length; g++) {
        for (const pool of this.#pools(g)) {
          const name = pool.join()
          const tried = triedAt.get(name)
          if (tried !== undefined && pool.every((p) => this.#changedAt[p] <= tried)) continue
          triedAt.set(name, this.#now)
          if (!this.#regroup(pool)) continue
          gained = true
          break
        }
      }
    }
    this.#meter.activity = 'searching'
    return this.#groups
      .filter((members) => members.length > 0)
      .map((members) => ({ members, common: this.#active.common(members) }))
  }

  /**
   * Pools around a group: alone and with each of its nearest groups, filled with free friends and further
   * groups.
   */
  *#pools(g: number): Generator<number[]> {
    if (this.#groups[g].length === 0) return
    const { near, free } = this.#around(this.#groups[g])
    yield this.#fill([g], free, near)
    for (const partner of near.slice(0, partners)) {
      if (2 * this.#k > largestPool) return
      yield this.#fill(
        [g, partner],
        free,
        near.filter((other) => other !== partner),
      )
    }
  }

  #fill(groups: readonly number[], free: readonly number[], near: readonly number[]): number[] {
    const pool = groups.flatMap((g) => [...this.#groups[g]])
    pool.push(...free.slice(0, (largestPool - pool.length) >> 1))
    for (const g of near) if (pool.length + this.#k <= largestPool) pool.push(...this.#groups[g])
    for (const p of free) if (pool.length < largestPool && !pool.includes(p)) pool.push(p)
    return pool.sort((a, b) => a - b)
  }

  /**
   * Returns the groups and free ranks that are friends of these members, ordered by the neighbors that they have in
   * common.
   */
  #around(members: Int32Array): { near: number[]; free: number[] } {
    const groupWeight = new Map<number, number>()
    const freeWeight = new Map<number, number>()
    const own = this.#groupOf[members[0]]
    let met = 0
    const meet = (f: number) => {
      met++
      const g = this.#groupOf[f]
      if (g === own) return
      if (g >= 0) groupWeight.set(g, (groupWeight.get(g) ?? 0) + 1)
      else freeWeight.set(f, (freeWeight.get(f) ?? 0) + 1)
    }
    for (const p of members) {
      for (let i = this.#friends.start[p]; i < this.#friends.start[p + 1]; i++) meet(this.#friends.rank[i])
      for (let i = this.#smaller.start[p]; i < this.#smaller.start[p + 1]; i++) meet(this.#smaller.rank[i])
    }
    this.#meter.work(stepsPerFriend * met)
    const byWeight = (weights: Map<number, number>) =>
      [...weights].sort((a, b) => b[1] - a[1] || a[0] - b[0]).map(([what]) => what)
    return { near: byWeight(groupWeight), free: byWeight(freeWeight) }
  }

  /** Regroups the ranks of whole groups and free ranks if that weighs more. */
  #regroup(pool: readonly number[]): boolean {
    const old = [...new Set(pool.map((p) => this.#groupOf[p]))].filter((g) => g >= 0)
    const better = this.#pool.regroup(
      pool,
      old.map((g) => this.#groups[g]),
    )
    this.#meter.searches++
    this.#meter.work(this.#pool.steps)
    if (better === null) return false
    this.#now++
    for (const p of pool) {
      this.#groupOf[p] = -1
      this.#changedAt[p] = this.#now
    }
    for (const g of old) this.#groups[g] = new Int32Array(0)
    for (const [i, members] of better.entries()) {
      const g = i < old.length ? old[i] : this.#groups.length
      this.#groups[g] = members
      for (const p of members) this.#groupOf[p] = g
    }
    return true
  }
}

/** The most ranks in a pool: all their subsets are visited. */
const largestPool = 12

/** The heaviest grouping of few ranks: dynamic programming over the subsets that are still free. */
class PoolGrouping {
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
