import { requireKnownOptions } from '../../base/known-options.js'
import { type OptionTable, uncheckedOptions } from '../../base/option.js'
import { largestOf } from '../../base/search.js'
import { distinctOut, type NeighborSets } from '../neighbors.js'
import { type ProcessTopology, requireTopology } from '../process-topology.js'
import { type StencilShape, stencilOffsets, stencilShapes, stencilSize } from './stencil.js'

/** A topology that looks the same from every rank of a grid, apart from the borders. */
export interface Translations {
  readonly kind: 'invariant'
  /** Extents of at least 2; a single rank has `[1]`. */
  readonly dims: readonly number[]
  readonly periods: readonly boolean[]
  /**
   * The offsets from every rank to its destinations, in lexicographic order; the shorter way around where a dimension
   * wraps.
   */
  readonly offsets: readonly (readonly number[])[]
  /**
   * The stencil that these offsets form, if they do: `star` of radius 1 is a Cartesian grid, `box` Moore's
   * neighborhood.
   */
  readonly stencil: { readonly shape: StencilShape; readonly radius: number } | null
}

export type TranslationFinding =
  | Translations
  | { readonly kind: 'none'; readonly mostDims: number }
  | { readonly kind: 'undecided'; readonly reason: string }

export interface TranslationOptions {
  /** The most dimensions of a grid. Default 4. */
  readonly mostDims?: number
  /** The most edges and offsets to visit, a few nanoseconds each. Default 10^9. */
  readonly workLimit?: number
}

const knownOptions: OptionTable<TranslationOptions> = uncheckedOptions('mostDims', 'workLimit')

/**
 * Whether a topology is a stencil on a grid: ranks row-major, the last dimension fastest, and the same
 * offsets from every rank, except those that lead out of a dimension that does not wrap. The answer has as
 * few dimensions as possible; of those the first found. Self loops, parallel edges and the order of lists do
 * not count. Exact: the answer has been compared with every edge.
 *
 * @see Traeff, Hunold, Mercier, Holmes 2019, Cartesian Collective Communication (isomorphic neighborhoods)
 */
export function findTranslations(
  topology: ProcessTopology,
  options: TranslationOptions = {},
): TranslationFinding {
  requireTopology(topology)
  requireKnownOptions('findTranslations', options, knownOptions)
  const { mostDims = 4, workLimit = 1e9 } = options
  const { ranks } = topology
  if (ranks === 1) return { kind: 'invariant', dims: [1], periods: [true], offsets: [], stencil: null }
  const search = new TranslationSearch(distinctOut(topology), workLimit)
  for (let count = 1; count <= mostDims; count++)
    for (const dims of factorizations(ranks, count))
      for (const periods of search.possiblePeriods(count)) {
        const offsets = search.offsetsOf(dims, periods)
        if (search.workLeft < 0) return { kind: 'undecided', reason: `more than ${workLimit} steps` }
        if (offsets === null) continue
        return { kind: 'invariant', dims, periods, offsets, stencil: stencilOf(dims, periods, offsets) }
      }
  return { kind: 'none', mostDims }
}

/**
 * Yields every way to write `n` as a product of `count` factors of at least 2, in order; larger first factors first.
 */
function* factorizations(n: number, count: number): Generator<number[]> {
  if (count === 1) {
    if (n >= 2) yield [n]
    return
  }
  for (const first of divisors(n)) {
    if (first === 1 || first === n) continue
    for (const rest of factorizations(n / first, count - 1)) yield [first, ...rest]
  }
}

/** Lists the divisors, descending. */
function divisors(n: number): number[] {
  const small: number[] = []
  for (let d = 1; d * d <= n; d++) if (n % d === 0) small.push(d)
  return [...new Set([...small.map((d) => n / d), ...small.toReversed()])]
}

/** Stencils of more offsets are not listed to compare them. */
const mostCompared = 2 ** 20

function stencilOf(
  dims: readonly number[],
  periods: readonly boolean[],
  offsets: readonly (readonly number[])[],
): Translations['stencil'] {
  const radius = Math.max(0, largestOf(offsets.flat().map(Math.abs)))
  if (radius === 0) return null
  // An offset the longer way around a dimension equals one the shorter way.
  const shorter = (offset: readonly number[]) =>
    offset.map((step, d) => (periods[d] ? shorterWay(step, dims[d]) : step))
  const inside = (offset: readonly number[]) =>
    offset.every((step, d) => periods[d] || Math.abs(step) < dims[d])
  const wanted = new Set(offsets.map(String))
  for (const shape of stencilShapes) {
    if (stencilSize(shape, dims.length, radius) > mostCompared) continue
    const all = new Set(
      stencilOffsets(shape, dims.length, radius)
        .filter(inside)
        .map(shorter)
        .filter((offset) => offset.some((step) => step !== 0))
        .map(String),
    )
    if (all.size === wanted.size && [...wanted].every((offset) => all.has(offset))) return { shape, radius }
  }
  return null
}

/** Returns the shorter way around; of equally short ones the one ahead. */
export function shorterWay(step: number, extent: number): number {
  const ahead = ((step % extent) + extent) % extent
  return 2 * ahead > extent ? ahead - extent : ahead
}

/** Tests grids against a topology, and counts its steps. */
class TranslationSearch {
  workLeft: number
  readonly #out: NeighborSets
  readonly #ranks: number
  readonly #regular: boolean
  /** The rank that named each neighbor last. */
  readonly #namedBy: Int32Array

  constructor(out: NeighborSets, workLimit: number) {
    this.#out = out
    this.#ranks = out.start.length - 1
    this.workLeft = workLimit
    this.#namedBy = new Int32Array(this.#ranks).fill(-1)
    const degree = out.start[1]
    this.#regular = out.start.every((start, p) => start === p * degree)
  }

  /**
   * Returns the choices of dimensions that may wrap, those with most of them first. A dimension that wraps can also be
   * described without wrapping, by an offset n - 1 back for every offset 1 ahead. If all dimensions wrap, the topology
   * is regular.
   */
  possiblePeriods(dimensions: number): boolean[][] {
    const count = 1 << dimensions
    const choices = Array.from({ length: this.#regular ? count : count - 1 }, (_, mask) =>
      Array.from({ length: dimensions }, (_, d) => (mask & (1 << d)) !== 0),
    )
    const wrapping = (periods: readonly boolean[]) => periods.filter(Boolean).length
    return choices.sort((a, b) => wrapping(b) - wrapping(a))
  }

  /** Returns the offsets that are the same for every rank of the grid, or null if there are none. */
  offsetsOf(dims: readonly number[], periods: readonly boolean[]): number[][] | null {
    const offsets = this.#offsetsAtCorners(dims, periods)
    // The number of edges these offsets give: cheap to compute, and different for nearly every wrong grid.
    let edges = 0
    for (const offset of offsets)
      edges += offset.reduce(
        (product, step, d) => product * (periods[d] ? dims[d] : dims[d] - Math.abs(step)),
        1,
      )
    if (edges !== this.#out.rank.length) return null
    return this.#allHave(dims, periods, offsets) ? offsets : null
  }

  /**
   * Collects the offsets that lead from each corner. Those point inside, so the corners together have all. In
   * lexicographic order.
   */
  #offsetsAtCorners(dims: readonly number[], periods: readonly boolean[]): number[][] {
    const found = new Map<number, number[]>()
    const open = dims.flatMap((_, d) => (periods[d] ? [] : [d]))
    for (let corner = 0; corner < 1 << open.length; corner++) {
      const at = dims.map(() => 0)
      for (const [i, d] of open.entries()) if ((corner & (1 << i)) !== 0) at[d] = dims[d] - 1
      const p = at.reduce((rank, coord, d) => rank * dims[d] + coord, 0)
      for (let e = this.#out.start[p]; e < this.#out.start[p + 1]; e++) {
        this.workLeft -= 4 * dims.length
        let key = 0
        let rest = this.#out.rank[e]
        const offset = dims.map(() => 0)
        for (let d = dims.length - 1; d >= 0; d--) {
          const coord = rest % dims[d]
          rest = (rest - coord) / dims[d]
          const step = coord - at[d]
          offset[d] = periods[d] && 2 * step > dims[d] ? step - dims[d] : step
        }
        for (const [d, step] of offset.entries()) key = key * 2 * dims[d] + step + dims[d]
        found.set(key, offset)
      }
    }
    return [...found].sort(([a], [b]) => a - b).map(([, offset]) => offset)
  }

  /** Whether every rank's neighbors are exactly those that the offsets lead to. */
  #allHave(
    dims: readonly number[],
    periods: readonly boolean[],
    offsets: readonly (readonly number[])[],
  ): boolean {
    const { start, rank } = this.#out
    const steps = Int32Array.from(offsets.flat())
    const coords = dims.map(() => 0)
    this.#namedBy.fill(-1)
    for (let p = 0; p < this.#ranks; p++) {
      this.workLeft -= steps.length
      if (this.workLeft < 0) return false
      for (let e = start[p]; e < start[p + 1]; e++) this.#namedBy[rank[e]] = p
      let led = 0
      next: for (let o = 0; o < steps.length; o += dims.length) {
        let q = 0
        for (let d = 0; d < dims.length; d++) {
          let coord = coords[d] + steps[o + d]
          if (coord < 0 || coord >= dims[d]) {
            if (!periods[d]) continue next
            coord += coord < 0 ? dims[d] : -dims[d]
          }
          q = q * dims[d] + coord
        }
        if (this.#namedBy[q] !== p) return false
        led++
      }
      if (led !== start[p + 1] - start[p]) return false
      for (let d = dims.length - 1; d >= 0 && ++coords[d] === dims[d]; d--) coords[d] = 0
    }
    return true
  }
}
