import { requireKnownOptions } from '../../base/known-options.js'
import type { OptionTable } from '../../base/option.js'
import { checkValues } from '../../base/option-table.js'
import { distinctOut } from '../neighbors.js'
import { type ProcessTopology, requireTopology } from '../process-topology.js'
import { type BeyondLimit, type CountingOptions, countingOptions } from './common-neighbors.js'
import { friendLists, ownersOf } from './friend-lists.js'
import { CandidateRows, denseSets, FriendRows, type OpenSets } from './friend-rows.js'
import { friendOptions, requireNodes } from './grouping-options.js'

/** Default limit: 6 x 10^9 steps, which are bitset words read; it takes about 20 seconds. */
export interface HyperedgeOptions extends CountingOptions {
  /** The number of ranks per hyperedge, at least 2. */
  readonly k: number
  /** A hyperedge has strictly more common out-neighbors than this. */
  readonly theta: number
}

const countedBy = { k: friendOptions.k, theta: { ...friendOptions.theta, required: true as const } }

/** An exact count, or none: never an estimate. */
export type HyperedgeCount = CountedHyperedges | BeyondLimit

interface CountedHyperedges {
  readonly kind: 'counted'
  /** The number of hyperedges that contain the rank. */
  readonly perRank: Float64Array
  readonly meanPerRank: number
  /** The number of hyperedges of the whole topology. */
  readonly total: number
}

const knownOptions: OptionTable<HyperedgeOptions> = { ...countedBy, ...countingOptions }

/**
 * Counts the hyperedges of the friendship hypergraph, the sets of k ranks with more than theta common
 * out-neighbors, without keeping them.
 *
 * @throws ERR_STRATEGY k < 2, theta not an integer >= 0, nodes for another number of ranks
 * @see Ghazimirsaeed 2019 §7.6.1, Figures 7.5 and 7.9
 */
export function countHyperedges(topology: ProcessTopology, options: HyperedgeOptions): HyperedgeCount {
  requireTopology(topology)
  requireKnownOptions('countHyperedges', options, knownOptions)
  const { ranks } = topology
  const { k, theta, nodeOf = null, workLimit = 6e9, onRank } = options
  checkValues('countHyperedges', countedBy, options, 'ERR_STRATEGY')
  requireNodes(ranks, nodeOf)
  const out = distinctOut(topology)
  const friends = friendLists(out, theta, nodeOf)
  const owners = ownersOf(friends, k)
  const perRank = new Float64Array(ranks)
  if (owners.length === 0) return { kind: 'counted', perRank, meanPerRank: 0, total: 0 }

  const sets = { ...out, end: out.start.subarray(1), dense: denseSets(out) }
  const counter = new HyperedgeCounter(perRank, k, theta, workLimit, sets)
  let total = 0
  for (const [i, p] of owners.entries()) {
    total += counter.countOwned(p, friends.rank.subarray(friends.start[p], friends.start[p + 1]))
    if (counter.workLeft < 0) {
      const reason = `more than ${workLimit} steps: counted the hyperedges of ${i} of ${owners.length} owners`
      return { kind: 'beyond-limit', reason }
    }
    onRank?.(i + 1, owners.length)
  }
  return { kind: 'counted', perRank, meanPerRank: (total * k) / ranks, total }
}

/** Enumerates hyperedges at their smallest member, and counts them at every member. */
class HyperedgeCounter {
  workLeft: number
  readonly #perRank: Float64Array
  readonly #k: number
  readonly #theta: number
  readonly #rows: CandidateRows
  readonly #friends: FriendRows

  constructor(perRank: Float64Array, k: number, theta: number, workLimit: number, sets: OpenSets) {
    this.#perRank = perRank
    this.workLeft = workLimit
    this.#k = k
    this.#theta = theta
    this.#rows = new CandidateRows(k - 1)
    this.#friends = new FriendRows(sets, this.#rows)
  }

  countOwned(p: number, friends: Int32Array): number {
    this.#friends.open(p, friends.length)
    for (const f of friends) this.#friends.add(f, this.#theta)
    this.#friends.close(p)
    this.workLeft -= friends.length * this.#rows.levels[0].words
    const found = this.#count(0, this.#k - 1)
    this.#perRank[p] += found
    return found
  }

  /** Hyperedges with `picks` more members from this level. A wrong number once `workLeft` is negative. */
  #count(depth: number, picks: number): number {
    const { count, rank, words } = this.#rows.levels[depth]
    if (picks === 1) {
      for (let i = 0; i < count; i++) this.#perRank[rank[i]]++
      return count
    }
    let total = 0
    for (let i = 0; i + picks <= count; i++) {
      this.workLeft -= (count - i) * words
      if (this.workLeft < 0) return total
      let found = 0
      if (picks === 2) {
        for (let j = i + 1; j < count; j++) {
          if (this.#rows.common(depth, i, j) <= this.#theta) continue
          this.#perRank[rank[j]]++
          found++
        }
      } else {
        this.#rows.choose(depth, i)
        for (let j = i + 1; j < count; j++) this.#rows.addBelow(depth, i, j, this.#theta)
        found = this.#count(depth + 1, picks - 1)
      }
      this.#perRank[rank[i]] += found
      total += found
    }
    return total
  }
}
