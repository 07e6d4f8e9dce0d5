import { ones } from '../../base/ascending-set.js'
import { GrowingInt32Array } from '../../base/growing-array.js'
import { requireKnownOptions } from '../../base/known-options.js'
import { type OptionTable, uncheckedOptions } from '../../base/option.js'
import { below, mulberry32 } from '../../base/random.js'
import { rangeAt } from '../../base/search.js'
import { RankweaveError, shown } from '../../errors.js'
import { type CompressedRows, rowStarts } from '../compressed-rows.js'
import { distinctEdges } from '../distinct-edges.js'
import { checkTopologySize, topologyLimits } from '../limits.js'
import type { ProcessTopology } from '../process-topology.js'
import { topologyFromEdges, unweightedTopology } from '../topology-builders.js'

/** Positions of pairs stay exact up to this number of ranks, and a gap needs few digits. */
const maxRanks = 2 ** 16
/** So many pairs, or fewer, take one draw each. So do more where at least one pair in 16 is an edge. */
const mostDrawn = 2 ** 26
const densestSkipped = 2 ** 28

export interface ErdosRenyi {
  readonly ranks: number
  /** The probability of each directed edge, 0 to 1. */
  readonly density: number
  /** An integer, taken modulo 2^32. Default 1. */
  readonly seed?: number
}

const erdosRenyiOptions: OptionTable<ErdosRenyi> = uncheckedOptions('ranks', 'density', 'seed')

/**
 * Draws a directed graph: each ordered pair of different ranks is an edge with probability `density`. For i, for j !=
 * i, ascending, one draw u of {@link mulberry32}; an edge from i to j iff u < floor(density * 2^32). Of more than 2^26
 * pairs, at a density below 1/16, the gaps between edges are drawn instead, in time linear in edges: binary digits of a
 * geometric variable are independent, digit k is 1 with the probability q^(2^k) / (1 + q^(2^k)), where q is the
 * probability of no edge; each takes one draw, the lowest first. Destinations and sources ascend.
 *
 * @throws ERR_TOPOLOGY
 * @see Ghazimirsaeed 2019 §7.6.2
 */
export function erdosRenyiTopology(options: ErdosRenyi): ProcessTopology {
  requireKnownOptions('erdosRenyiTopology', options, erdosRenyiOptions)
  const { ranks, density, seed = 1 } = options
  checkProbability('a density', density)
  checkSeed(seed)
  checkTopologySize('random graph', ranks, 0)
  checkTopologySize('random graph', ranks, Math.floor(ranks * (ranks - 1) * density))
  if (ranks > maxRanks)
    throw new RankweaveError('ERR_TOPOLOGY', `random graph: expected at most ${maxRanks} ranks, got ${ranks}`)
  const next = mulberry32(seed)
  const threshold = Math.floor(density * 2 ** 32)
  const isSkipped = ranks * (ranks - 1) > mostDrawn && threshold < densestSkipped
  return unweightedTopology(
    isSkipped ? skippedRows(ranks, threshold, next) : drawnRows(ranks, threshold, next),
  )
}

function drawnRows(ranks: number, threshold: number, next: () => number): CompressedRows {
  const start = new Int32Array(ranks + 1)
  const destinations = new GrowingInt32Array()
  for (let i = 0; i < ranks; i++) {
    for (let j = 0; j < ranks; j++) if (j !== i && next() < threshold) destinations.push(j)
    start[i + 1] = destinations.length
    checkTopologySize('random graph', ranks, destinations.length)
  }
  return { start, rank: destinations.toArray() }
}

function skippedRows(ranks: number, threshold: number, next: () => number): CompressedRows {
  const start = new Int32Array(ranks + 1)
  const destinations = new GrowingInt32Array()
  const digits = gapDigits(threshold)
  const gap = () => {
    let sum = 0
    for (let k = 0, one = 1; k < digits.length; k++, one *= 2) if (next() < digits[k]) sum += one
    return sum
  }
  // Positions among all pairs, row by row; without edges there is no first one.
  let position = threshold === 0 ? Number.POSITIVE_INFINITY : gap()
  for (let i = 0; i < ranks; i++) {
    for (const end = (i + 1) * (ranks - 1); position < end; position += 1 + gap()) {
      const j = position - i * (ranks - 1)
      destinations.push(j < i ? j : j + 1)
    }
    start[i + 1] = destinations.length
    checkTopologySize('random graph', ranks, destinations.length)
  }
  return { start, rank: destinations.toArray() }
}

/**
 * Returns a threshold for each digit of a gap, the lowest first: the digit is 1 iff a draw is below. Digits that are
 * never 1 are left out.
 */
function gapDigits(threshold: number): readonly number[] {
  const digits: number[] = []
  if (threshold === 0) return digits
  for (let none = 1 - threshold / 2 ** 32; ; none *= none) {
    const digit = Math.floor((none / (1 + none)) * 2 ** 32)
    if (digit === 0) return digits
    digits.push(digit)
  }
}

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

const smallWorldOptions: OptionTable<SmallWorld> = uncheckedOptions('ranks', 'degree', 'rewiring', 'seed')

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
  requireKnownOptions('smallWorldTopology', options, smallWorldOptions)
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

export interface PowerLaw {
  readonly ranks: number
  /** The target mean degree; edges drawn twice reduce it. Above 0, less than `ranks`. */
  readonly degree: number
  /** The share of ranks of degree x decreases like x^-gamma; above 2, at most 100. Default 2.5. */
  readonly gamma?: number
  /** An integer, taken modulo 2^32. Default 1. */
  readonly seed?: number
}

const powerLawOptions: OptionTable<PowerLaw> = uncheckedOptions('ranks', 'degree', 'gamma', 'seed')

/**
 * Draws a graph whose degrees follow a power law: few ranks have many neighbors, rank 0 the most; symmetric. Rank i has
 * weight (i+1)^(-1/(gamma-1)); `ranks * degree / 2` edges are drawn, both ends with a probability proportional to the
 * weight, two draws of {@link mulberry32} each; self loops and repeated edges are dropped. Destinations and sources
 * ascend.
 *
 * @throws ERR_TOPOLOGY
 * @see Chung, Lu 2002, Connected components in random graphs with given expected degree sequences; drawn edge by edge
 *   as in Seshadhri, Kolda, Pinar 2012, Community structure and scale-free collections of Erdos-Renyi graphs
 */
export function powerLawTopology(options: PowerLaw): ProcessTopology {
  requireKnownOptions('powerLawTopology', options, powerLawOptions)
  const { ranks, degree, gamma = 2.5, seed = 1 } = options
  checkTopologySize('power-law graph', ranks, 0)
  checkNumber(`a degree above 0, below ${ranks}, the ranks`, degree, (d) => d > 0 && d < ranks)
  const draws = Math.round((ranks * degree) / 2)
  checkTopologySize('power-law graph', ranks, 2 * draws)
  checkNumber('gamma above 2, at most 100', gamma, (g) => g > 2 && g <= 100)
  checkSeed(seed)
  const weightBelow = cumulativeWeights(ranks, gamma)
  const next = mulberry32(seed)
  const draw = (): number => {
    const share = (next() * 2 ** 20 + (next() >>> 12)) / 2 ** 52
    return rangeAt(weightBelow, share * weightBelow[ranks])
  }
  const edges = distinctEdges(ranks)
  for (let e = 0; e < draws; e++) {
    const p = draw()
    const q = draw()
    if (p === q) continue
    edges.add(p, q)
    edges.add(q, p)
  }
  const rows = edges.toRows()
  return unweightedTopology(rows, rows)
}

/**
 * Returns the sum of the weights below every rank, and that of all. Weights are rounded to integers, so that a power
 * whose last bit differs between engines gives the same graph.
 */
function cumulativeWeights(ranks: number, gamma: number): Float64Array {
  const below = new Float64Array(ranks + 1)
  for (let i = 0; i < ranks; i++)
    below[i + 1] = below[i] + Math.round(2 ** 20 * (ranks / (i + 1)) ** (1 / (gamma - 1)))
  return below
}

export interface Rmat {
  /** A power of two. */
  readonly ranks: number
  /** The number of edges drawn per rank, above 0; an edge drawn twice counts once. */
  readonly degree: number
  /**
   * The probabilities of the quarters of the adjacency matrix: both ends in the lower half of ranks; destination in the
   * upper; source in the upper; both. They sum to 1. Default those of Graph500: 0.57, 0.19, 0.19, 0.05.
   */
  readonly quarters?: readonly [a: number, b: number, c: number, d: number]
  /** An integer, taken modulo 2^32. Default 1. */
  readonly seed?: number
}

const rmatOptions: OptionTable<Rmat> = uncheckedOptions('ranks', 'degree', 'quarters', 'seed')

/** The probabilities that Graph500 prescribes. */
export const graph500Quarters = [0.57, 0.19, 0.19, 0.05] as const

/**
 * Draws a directed graph with nested communities: for each of `ranks * degree` edges the adjacency matrix is quartered
 * until one entry is left, one draw u of {@link mulberry32} per halving: the first quarter iff u < floor(a * 2^32), and
 * so on. Self loops and repeated edges are dropped; labels are not permuted. Destinations and sources ascend.
 *
 * @throws ERR_TOPOLOGY
 * @see Chakrabarti, Zhan, Faloutsos 2004, R-MAT: A Recursive Model for Graph Mining
 */
export function rmatTopology(options: Rmat): ProcessTopology {
  requireKnownOptions('rmatTopology', options, rmatOptions)
  const { ranks, degree, quarters = graph500Quarters, seed = 1 } = options
  checkTopologySize('R-MAT graph', ranks, 0)
  checkNumber('a degree above 0', degree, (d) => d > 0)
  checkTopologySize('R-MAT graph', ranks, ranks * degree)
  if (!Number.isInteger(Math.log2(ranks)))
    throw new RankweaveError('ERR_TOPOLOGY', `R-MAT graph: expected a power of two of ranks, got ${ranks}`)
  if (!Array.isArray(quarters))
    throw new RankweaveError('ERR_TOPOLOGY', `expected four probabilities, got ${shown(quarters)}`)
  const sum = quarters.reduce((total, quarter) => total + quarter, 0)
  if (quarters.length !== 4 || !quarters.every((quarter) => quarter >= 0) || !(Math.abs(sum - 1) <= 1e-6))
    throw new RankweaveError(
      'ERR_TOPOLOGY',
      `expected four probabilities that sum to 1, got ${quarters.join(', ')}`,
    )
  checkSeed(seed)
  const [first, second, third] = [0, 1, 2].map((i) =>
    Math.floor(quarters.slice(0, i + 1).reduce((total, quarter) => total + quarter, 0) * 2 ** 32),
  )
  const next = mulberry32(seed)
  const edges = distinctEdges(ranks)
  for (let draws = Math.round(ranks * degree); draws > 0; draws--) {
    let from = 0
    let to = 0
    for (let half = ranks / 2; half >= 1; half /= 2) {
      const u = next()
      if (u < first) continue
      if (u >= second) from += half
      if (u < second || u >= third) to += half
    }
    if (from !== to) edges.add(from, to)
  }
  return unweightedTopology(edges.toRows())
}

export interface RandomGeometric {
  readonly ranks: number
  /** The largest distance of neighbors, above 0, at most 1; the side of the cube is 1. */
  readonly radius: number
  /** The number of dimensions: 1, 2 or 3. Default 2. */
  readonly dimensions?: number
  /** Whether the cube wraps around. Default false. */
  readonly periodic?: boolean
  /** An integer, taken modulo 2^32. Default 1. */
  readonly seed?: number
}

const geometricOptions: OptionTable<RandomGeometric> = uncheckedOptions(
  'ranks',
  'radius',
  'dimensions',
  'periodic',
  'seed',
)

/**
 * Draws ranks at random positions in the unit cube; neighbors are within a distance of `radius`. The graph is
 * symmetric. Positions are drawn with {@link mulberry32}, coordinate by coordinate; then ranks are numbered cell by
 * cell of a grid, row-major, as in meshes: nearby ranks have nearby numbers. The grid has as many cells per side as
 * possible with cells wider than the radius, and no more cells than ranks. Destinations and sources ascend.
 *
 * @throws ERR_TOPOLOGY
 * @see Gilbert 1961, Random Plane Networks; Penrose 2003, Random Geometric Graphs
 */
export function randomGeometricTopology(options: RandomGeometric): ProcessTopology {
  requireKnownOptions('randomGeometricTopology', options, geometricOptions)
  const { ranks, radius, dimensions = 2, periodic = false, seed = 1 } = options
  checkNumber('a radius above 0, at most 1', radius, (r) => r > 0 && r <= 1)
  if (dimensions !== 1 && dimensions !== 2 && dimensions !== 3)
    throw new RankweaveError('ERR_TOPOLOGY', `expected 1, 2 or 3 dimensions, got ${shown(dimensions)}`)
  checkSeed(seed)
  checkTopologySize('random geometric graph', ranks, 0)
  // Near a border a ball extends outside: at a corner in three dimensions, 1/8 of it is inside.
  const ball = [2 * radius, Math.PI * radius ** 2, (4 / 3) * Math.PI * radius ** 3][dimensions - 1]
  checkTopologySize('random geometric graph', ranks, Math.floor((ranks * ranks * Math.min(1, ball)) / 8))

  const side = cellsPerSide(ranks, radius, dimensions)
  const { places, cellStart } = drawPlaces(ranks, dimensions, side, seed)
  const start = new Int32Array(ranks + 1)
  const neighbors = new GrowingInt32Array(ranks)
  const reach = radius * radius
  const near: number[] = []
  for (let cell = 0; cell + 1 < cellStart.length; cell++) {
    const cells = nearCells(cell, side, dimensions, periodic)
    for (let p = cellStart[cell]; p < cellStart[cell + 1]; p++) {
      near.length = 0
      for (const other of cells)
        for (let q = cellStart[other]; q < cellStart[other + 1]; q++)
          if (q !== p && distance2(places, dimensions, p, q, periodic) <= reach) near.push(q)
      checkTopologySize('random geometric graph', ranks, neighbors.length + near.length)
      neighbors.append(Int32Array.from(near))
      start[p + 1] = neighbors.length
    }
  }
  const rows = { start, rank: neighbors.toArray() }
  return unweightedTopology(rows, rows)
}

function cellsPerSide(ranks: number, radius: number, dimensions: number): number {
  let side = 1
  while ((side + 1) ** dimensions <= ranks && 1 / (side + 1) >= radius) side++
  return side
}

/** Draws positions ordered by cell, within a cell in the order drawn; also returns the first rank of every cell. */
function drawPlaces(
  ranks: number,
  dimensions: number,
  side: number,
  seed: number,
): { readonly places: Float64Array; readonly cellStart: Int32Array } {
  const next = mulberry32(seed)
  const drawn = new Float64Array(ranks * dimensions)
  const cellOf = new Int32Array(ranks)
  for (let i = 0; i < ranks; i++) {
    for (let d = 0; d < dimensions; d++) {
      const coordinate = next() / 2 ** 32
      drawn[i * dimensions + d] = coordinate
      cellOf[i] = cellOf[i] * side + Math.floor(coordinate * side)
    }
  }
  const cellStart = rowStarts(side ** dimensions, cellOf)
  const free = cellStart.slice()
  const places = new Float64Array(drawn.length)
  for (let i = 0; i < ranks; i++) {
    const rank = free[cellOf[i]]++
    for (let d = 0; d < dimensions; d++) places[rank * dimensions + d] = drawn[i * dimensions + d]
  }
  return { places, cellStart }
}

/** Lists the cell and its neighbors, ascending, each once. */
function nearCells(cell: number, side: number, dimensions: number, periodic: boolean): number[] {
  let cells = [0]
  for (let d = 0; d < dimensions; d++) {
    const coordinate = Math.floor(cell / side ** (dimensions - 1 - d)) % side
    const around = [coordinate - 1, coordinate, coordinate + 1]
      .map((c) => (periodic ? (c + side) % side : c))
      .filter((c, i, all) => c >= 0 && c < side && all.indexOf(c) === i)
      .sort((a, b) => a - b)
    cells = cells.flatMap((prefix) => around.map((c) => prefix * side + c))
  }
  return cells
}

function distance2(
  places: Float64Array,
  dimensions: number,
  p: number,
  q: number,
  periodic: boolean,
): number {
  let sum = 0
  for (let d = 0; d < dimensions; d++) {
    const apart = Math.abs(places[p * dimensions + d] - places[q * dimensions + d])
    const shorter = periodic ? Math.min(apart, 1 - apart) : apart
    sum += shorter * shorter
  }
  return sum
}

/** @throws ERR_TOPOLOGY */
function checkSeed(seed: number): void {
  if (!Number.isSafeInteger(seed) || seed < 0)
    throw new RankweaveError('ERR_TOPOLOGY', `expected an integer as seed, got ${shown(seed)}`)
}

/** @throws ERR_TOPOLOGY unless the value is a number from 0 to 1 */
function checkProbability(what: string, value: number): void {
  if (typeof value !== 'number' || !(value >= 0 && value <= 1))
    throw new RankweaveError('ERR_TOPOLOGY', `expected ${what} from 0 to 1, got ${shown(value)}`)
}

/** @throws ERR_TOPOLOGY unless the value is a number within bounds, which the words name */
function checkNumber(words: string, value: unknown, isWithin: (number: number) => boolean): void {
  if (typeof value === 'number' && isWithin(value)) return
  throw new RankweaveError('ERR_TOPOLOGY', `expected ${words}, got ${shown(value)}`)
}
