import { GrowingInt32Array } from '../../base/growing-array.js'
import { requireKnownOptions } from '../../base/known-options.js'
import { inversePermutation } from '../../base/search.js'
import { permuteRows, transposeRows } from '../compressed-rows.js'
import { type FriendGroups, holdersOf, partBounds } from '../friends/friend-groups.js'
import { type FriendLists, friendLists, ownersOf } from '../friends/friend-lists.js'
import type { OpenSets } from '../friends/friend-rows.js'
import {
  type GroupingEngine,
  type GroupingOptions,
  type GroupingSettings,
  groupingOptions,
  groupingSettings,
  ProgressMeter,
  refuseSimulation,
  seededLabels,
  strategyError,
} from '../friends/grouping-options.js'
import { distinctOut, largestRow, type NeighborSets } from '../neighbors.js'
import { type ProcessTopology, requireTopology } from '../process-topology.js'
import { exactRound, preparedSolver } from './exact-round.js'
import type { GroupingMessages } from './grouping-messages.js'
import { ActiveNeighbors, type FormedGroup, GroupingRounds } from './grouping-rounds.js'

/**
 * Groups friends, round by round: disjoint groups of k ranks with more than theta common out-neighbors; then every
 * member loses the neighbors its group serves. Greedy by default: of all such groups the heaviest first (equal weights:
 * lexicographically smallest members). Self loops and parallel edges do not count.
 *
 * Same input, same groups, on every machine. Takes far less time than enumerating the groups: every rank caches only
 * the best one that it owns, and searches again when a member changed.
 *
 * @throws ERR_STRATEGY k < 2, theta not an integer >= 0, aware mode without a node for every rank, more friends than
 *   fit in memory; engine `exact` without the package `highs`, or with too much to choose from; engine `distributed`,
 *   since one process could only simulate all ranks; the errors of `onProgress`; ERR_ABORTED through `signal`
 * @see Ghazimirsaeed 2019 §7.3, Algorithms 7.1-7.3 (equal weights are not ordered there)
 */
export function groupFriends(topology: ProcessTopology, options: GroupingOptions): Grouping {
  requireTopology(topology)
  requireKnownOptions('groupFriends', options, groupingOptions)
  refuseSimulation('groupFriends', options.engine)
  const settings = groupingSettings(topology.ranks, options)
  if (options.cumulative && (settings.engine !== 'greedy' || settings.labelSeed !== null))
    throw strategyError('cumulative groups: expected engine greedy, without labels')
  const { now = () => performance.now() } = options
  const begin = now()
  const meter = new ProgressMeter(options.onProgress, options.signal)
  if (settings.engine === 'exact') preparedSolver(meter.isWatched)
  const groups = groupCentrally(topology, settings, meter, options)
  const weight = groups.common.length
  const { engine } = settings
  return { ...groups, engine, weight, messages: null, waves: null, timeMs: now() - begin }
}

/** Groups in label order: rows, nodes and groups number ranks by their labels. */
function groupCentrally(
  topology: ProcessTopology,
  settings: GroupingSettings,
  meter: ProgressMeter,
  { onGroup, cumulative = false }: GroupingOptions,
) {
  const { labelSeed } = settings
  const labels = labelSeed === null ? null : seededLabels(topology.ranks, labelSeed)
  const rankOf = labels === null ? null : inversePermutation(labels)
  const ranked = distinctOut(topology)
  const builder = new GroupsBuilder(topology.ranks, settings)
  // No rank has enough neighbors to be a friend: nothing to search, whatever the number of ranks.
  if (largestRow(ranked) <= settings.theta) return builder.build(ranked)
  const out = rankOf === null ? ranked : permuteRows(ranked, rankOf)
  const nodeOf = rankOf === null ? settings.nodeOf : settings.nodeOf && rankOf.map((r) => settings.nodeOf![r])
  const active = new ActiveNeighbors(out)
  const rounds = engineRounds({ ...settings, nodeOf }, active, out, meter, onGroup)

  for (let groups = rounds.find(); groups.length > 0; groups = rounds.find()) {
    builder.addStep(rankOf === null ? groups : groups.map((group) => named(group, rankOf)))
    rounds.serve(cumulative ? groups.flatMap(withoutOwnParts) : groups)
  }
  const direct = active.toSets()
  return builder.build(labels === null ? direct : permuteRows(direct, labels))
}

/** Returns the neighbors that every member loses when it retains those that it serves itself. */
function withoutOwnParts({ members, common }: FormedGroup): FormedGroup[] {
  return Array.from(members, (member, i) => {
    const [from, to] = partBounds(common.length, members.length, i)
    return { members: Int32Array.of(member), common: common.filter((_, c) => c < from || c >= to) }
  })
}

function named({ members, common }: FormedGroup, rankOf: Int32Array): FormedGroup {
  return { members: members.map((label) => rankOf[label]).sort(), common }
}

interface Rounds {
  find(): readonly FormedGroup[]
  serve(groups: readonly FormedGroup[]): void
}

function engineRounds(
  settings: GroupingSettings,
  active: ActiveNeighbors,
  out: ReturnType<typeof distinctOut>,
  meter: ProgressMeter,
  onGroup: GroupingOptions['onGroup'],
): Rounds {
  const { engine, k, theta, nodeOf } = settings
  if (engine === 'exact') {
    const solver = preparedSolver(meter.isWatched)
    return {
      find: () => exactRound(solver, active, settings, meter),
      serve: (groups) => {
        meter.step++
        for (const { members, common } of groups) for (const p of members) active.remove(p, common)
      },
    }
  }
  const friends = friendLists(out, theta, nodeOf, { meter })
  const owners = ownersOf(friends, k)
  if (owners.length === 0) return { find: () => [], serve: () => {} }
  const greedy = new GroupingRounds(owners, friends, active, k, theta, meter, onGroup)
  if (engine === 'greedy') return greedy
  return {
    find: () => improveRound(greedy.find(), friends, active, { k, theta, meter }),
    serve: (groups) => greedy.serve(groups),
  }
}

class GroupsBuilder {
  readonly #ranks: number
  readonly #settings: GroupingSettings
  readonly #step = new GrowingInt32Array()
  readonly #members = new GrowingInt32Array()
  readonly #commonStart = new GrowingInt32Array()
  readonly #common = new GrowingInt32Array()
  #steps = 0

  constructor(ranks: number, settings: GroupingSettings) {
    this.#ranks = ranks
    this.#settings = settings
  }

  /** Members and common neighbors ascend; groups need not. */
  addStep(groups: readonly FormedGroup[]): void {
    for (const { members, common } of [...groups].sort((a, b) => a.members[0] - b.members[0])) {
      this.#step.push(this.#steps)
      this.#members.append(members)
      this.#commonStart.push(this.#common.length)
      this.#common.append(common)
    }
    this.#steps++
  }

  /** @param direct the out-neighbors that no group serves */
  build(direct: NeighborSets): FriendGroups {
    const { k, theta, mode } = this.#settings
    this.#commonStart.push(this.#common.length)
    const commonStart = this.#commonStart.toArray()
    return {
      ranks: this.#ranks,
      k,
      theta,
      mode,
      steps: this.#steps,
      count: this.#step.length,
      step: this.#step.toArray(),
      members: this.#members.toArray(),
      commonStart,
      common: this.#common.toArray(),
      holder: holdersOf(commonStart, k),
      directStart: direct.start,
      direct: direct.rank,
    }
  }
}

/** Groups, and how they were found. */
export interface Grouping extends FriendGroups {
  readonly engine: GroupingEngine
  /** The number of common neighbors of all groups: the messages that each member of a group saves, before exchanges. */
  readonly weight: number
  /** The messages between ranks, if the distributed engine found the groups. */
  readonly messages: GroupingMessages | null
  /**
   * The depth of every round: how many decisions waited for each other, one after the other, however many ranks decide
   * at the same time. It exists if ranks matched themselves, and depends on which messages arrived first.
   */
  readonly waves: readonly number[] | null
  readonly timeMs: number
}

/** The number of neighboring groups with which a group is dissolved, in turn: those that share most friends with it. */
const partners = 6

/**
 * Improves a round's grouping by local search: it dissolves neighboring groups, adds friends of theirs that have no
 * group, and regroups this pool of ranks optimally. That covers swaps of members between groups and with free ranks,
 * splits and merges. It repeats until no pool improves, and never returns a lighter grouping. Groups of more than
 * {@link largestPool} stay as they are.
 */
function improveRound(
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
