import { ones } from '../../base/ascending-set.js'
import { requireKnownOptions } from '../../base/known-options.js'
import { type OptionTable, uncheckedOptions } from '../../base/option.js'
import { below, mulberry32 } from '../../base/random.js'
import { RankweaveError } from '../../errors.js'
import { checkTopologySize, topologyLimits } from '../limits.js'
import type { ProcessTopology } from '../process-topology.js'
import { topologyFromEdges, unweightedTopology } from '../topology-builders.js'
import { checkNumber, checkProbability, checkSeed } from './check-random.js'

/** The number of steps of the search for ranks to rewire to, for each edge that a topology may have. */
const stepsPerEdge = 64

export interface SmallWorld {
  readonly ranks: number
  /** The number of neighbors of every rank on the ring before rewiring: even, at least 2, less than `ranks`. */
  readonly degree: number
  /** The probability that an edge is rewired, 0 to 1. */
  readonly rewiring: number
  /** An integer, taken modulo 2^32. Default 1. */
  readonly seed?: number
}

const knownOptions: OptionTable<SmallWorld> = uncheckedOptions('ranks', 'degree', 'rewiring', 'seed')

/**
 * Draws a small world: a ring whose ranks are linked to the `degree` nearest ones, with some of those edges rewired;
 * symmetric. As published, edges are visited lap by lap: first those to the next rank, then those to the one after it,
 * and so on. Every edge from p is rewired with the given probability to a rank drawn uniformly. It is drawn again if it
 * is p or already a neighbor. If fewer than one rank in 32 is free, one draw chooses among the free ones in ascending
 * order instead. An edge of a rank that is linked to all others stays. One draw u of {@link mulberry32} decides (u <
 * floor(rewiring * 2^32)), further draws choose the rank. Destinations and sources ascend.
 *
 * @throws ERR_TOPOLOGY, also when the search for ranks to rewire to takes more than 64 steps for each edge that a
 *   topology may have
 * @see Watts, Strogatz 1998, Collective dynamics of 'small-world' networks
 */
export function smallWorldTopology(options: SmallWorld): ProcessTopology {
  requireKnownOptions('smallWorldTopology', options, knownOptions)
  const { ranks, degree, rewiring, seed = 1 } = options
  checkTopologySize('small world', ranks, 0)
  checkNumber(`an even degree from 2 to ${ranks - 1}`, degree, (d) => d % 2 === 0 && d >= 2 && d < ranks)
  checkTopologySize('small world', ranks, ranks * degree)
  checkProbability('a rewiring probability', rewiring)
  checkSeed(seed)
  const mostSteps = stepsPerEdge * topologyLimits.edges
  const ring = new Ring(ranks, degree / 2)
  const next = mulberry32(seed)
  const threshold = Math.floor(rewiring * 2 ** 32)
  for (let lap = 0; lap < degree / 2; lap++) {
    for (let p = 0; p < ranks; p++) {
      if (next() >= threshold || ring.degree[p] === ranks - 1) continue
      const free = ranks - 1 - ring.degree[p]
      let to: number
      if (32 * free < ranks && ring.marks !== null) to = ring.marks.free(p, below(next, free))
      else {
        to = below(next, ranks)
        while (to === p || ring.areNeighbors(p, to)) to = below(next, ranks)
      }
      if (ring.steps > mostSteps)
        throw new RankweaveError(
          'ERR_TOPOLOGY',
          `small world: expected fewer rewired edges, or a lower degree: more than ${mostSteps} steps`,
        )
      ring.rewire(p, lap, to)
    }
  }
  return ring.toTopology()
}

/** A symmetric matrix of bits that marks neighbors. A rank counts as its own neighbor, so it is never free. */
class NeighborMarks {
  readonly #words: number
  readonly #bits: Int32Array

  constructor(ranks: number) {
    this.#words = (ranks + 31) >> 5
    this.#bits = new Int32Array(ranks * this.#words)
    for (let p = 0; p < ranks; p++) this.#flip(p, p)
  }

  has(p: number, q: number): boolean {
    return ((this.#bits[p * this.#words + (q >> 5)] >>> (q & 31)) & 1) === 1
  }

  flip(p: number, q: number): void {
    this.#flip(p, q)
    this.#flip(q, p)
  }

  /** Returns the rank with that index among those that are free for p, ascending. There must be one. */
  free(p: number, index: number): number {
    let left = index
    for (let w = p * this.#words; ; w++) {
      let free = ~this.#bits[w]
      const count = ones(free)
      if (left >= count) left -= count
      else {
        for (let below = left; below > 0; below--) free &= free - 1
        return 32 * (w - p * this.#words) + 31 - Math.clz32(free & -free)
      }
    }
  }

  #flip(p: number, q: number): void {
    this.#bits[p * this.#words + (q >> 5)] ^= 1 << (q & 31)
  }
}

/** The edges of the ring: the edge of p in lap j led to rank p+j+1 and now leads to `to[p * laps + j]`. */
class Ring {
  readonly degree: Int32Array
  /** The number of edges visited. */
  steps = 0
  readonly #ranks: number
  readonly #laps: number
  readonly #to: Int32Array
  /**
   * The rewired edges by their far end, as linked lists: the last edge of every rank, and the edge before each; or -1.
   */
  readonly #last: Int32Array
  readonly #before: Int32Array
  /**
   * Marks for rings whose ranks have at least one rank in 32 as neighbors, so that they take no more memory than the
   * ring; else null.
   */
  readonly marks: NeighborMarks | null

  constructor(ranks: number, laps: number) {
    this.#ranks = ranks
    this.#laps = laps
    this.degree = new Int32Array(ranks).fill(2 * laps)
    this.#to = Int32Array.from({ length: ranks * laps }, (_, e) => this.#home(e))
    this.#last = new Int32Array(ranks).fill(-1)
    this.#before = new Int32Array(ranks * laps)
    this.marks = 64 * laps >= ranks ? new NeighborMarks(ranks) : null
    if (this.marks !== null)
      for (let e = 0; e < this.#to.length; e++) this.marks.flip(Math.floor(e / laps), this.#to[e])
  }

  /** Returns the rank to which an edge led before rewiring. */
  #home(e: number): number {
    return (Math.floor(e / this.#laps) + (e % this.#laps) + 1) % this.#ranks
  }

  areNeighbors(p: number, q: number): boolean {
    if (this.marks !== null) return this.marks.has(p, q)
    return this.#leadsTo(p, q) || this.#leadsTo(q, p)
  }

  /** Whether one of p's own edges leads to q, rewired or not. */
  #leadsTo(p: number, q: number): boolean {
    const ahead = (q - p + this.#ranks) % this.#ranks
    if (ahead <= this.#laps && this.#to[p * this.#laps + ahead - 1] === q) return true
    this.steps++
    for (let e = this.#last[q]; e >= 0; e = this.#before[e], this.steps++)
      if (Math.floor(e / this.#laps) === p) return true
    return false
  }

  rewire(p: number, lap: number, to: number): void {
    const e = p * this.#laps + lap
    this.degree[this.#to[e]]--
    this.degree[to]++
    this.marks?.flip(p, this.#to[e])
    this.marks?.flip(p, to)
    this.#to[e] = to
    this.#before[e] = this.#last[to]
    this.#last[to] = e
  }

  toTopology(): ProcessTopology {
    const from = this.#to.map((_, e) => Math.floor(e / this.#laps))
    const both = (one: Int32Array, other: Int32Array) => {
      const all = new Int32Array(2 * one.length)
      all.set(one)
      all.set(other, one.length)
      return all
    }
    const { outStart: start, outRank: rank } = topologyFromEdges(this.#ranks, {
      sources: both(from, this.#to),
      destinations: both(this.#to, from),
    })
    for (let p = 0; p < this.#ranks; p++) rank.subarray(start[p], start[p + 1]).sort()
    return unweightedTopology({ start, rank }, { start, rank })
  }
}
