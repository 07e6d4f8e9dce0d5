import { requireKnownOptions } from '../../base/known-options.js'
import { type OptionTable, uncheckedOptions } from '../../base/option.js'
import { largestOf } from '../../base/search.js'
import { requireTopology } from '../check-topology.js'
import { distinctOut } from '../neighbors.js'
import type { ProcessTopology } from '../process-topology.js'
import { type StencilShape, stencilOffsets, stencilShapes, stencilSize } from './stencil.js'
import { TranslationSearch } from './translation-search.js'

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
