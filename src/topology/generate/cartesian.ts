import { RankweaveError, shown } from '../../errors.js'
import {
  type CartShape,
  cartNeighborSlots,
  checkCartShape,
  checkDimensions,
  coordsOf,
  procNull,
  requireCartShape,
  sizeOf,
} from '../cart-shape.js'
import { checkTopologySize, topologyLimits } from '../limits.js'
import type { ProcessTopology } from '../process-topology.js'

/**
 * Builds the topology of a grid. Sources and destinations of a rank are equal: per dimension the neighbor behind, then
 * the one ahead. The lists hold only neighbors that exist; {@link cartNeighborSlots} gives MPI's buffer layout, in
 * which missing neighbors have slots too. A periodic extent of 1 yields two self loops, one of 2 a double edge.
 *
 * @throws ERR_DIMS; ERR_TOPOLOGY for too many edges, which are counted before anything is allocated
 * @see MPI-4.1 §8.5.1, §8.6
 */
export function cartTopology(shape: CartShape): ProcessTopology {
  checkCartShape(shape)
  const ranks = sizeOf(shape)
  const count = shape.dims.reduce(
    (sum, extent, d) => sum + 2 * (ranks / extent) * (shape.periods[d] ? extent : extent - 1),
    0,
  )
  checkTopologySize('grid', ranks, count)
  const start = new Int32Array(ranks + 1)
  const neighbors = new Int32Array(count)
  let edges = 0
  for (let rank = 0; rank < ranks; rank++) {
    for (const neighbor of cartNeighborSlots(shape, rank))
      if (neighbor !== procNull) neighbors[edges++] = neighbor
    start[rank + 1] = edges
  }
  return {
    ranks,
    outStart: start,
    outRank: neighbors,
    outWeight: null,
    inStart: start,
    inRank: neighbors,
    inWeight: null,
    pairing: 'cartesian',
    cart: { dims: [...shape.dims], periods: [...shape.periods] },
  }
}

/**
 * Returns the subgrid that a rank belongs to when only the dimensions marked in `remain` remain: ranks of equal `color`
 * form one grid of the returned shape, ordered by `key`.
 *
 * @throws ERR_DIMS, ERR_RANK
 * @see MPI-4.1 §8.5.7 (MPI_Cart_sub)
 */
export function cartSub(
  shape: CartShape,
  remain: readonly boolean[],
  rank: number,
): { readonly color: number; readonly key: number; readonly shape: CartShape } {
  requireCartShape(shape)
  const { dims, periods } = shape
  if (!Array.isArray(remain) || remain.length !== dims.length)
    throw new RankweaveError(
      'ERR_DIMS',
      `expected one flag for each of the ${dims.length} dimensions, got ${shown(Array.isArray(remain) ? remain.length : remain)}`,
    )
  let color = 0
  let key = 0
  for (const [d, coord] of coordsOf(shape, rank).entries()) {
    if (remain[d]) key = key * dims[d] + coord
    else color = color * dims[d] + coord
  }
  const kept = <T>(values: readonly T[]): T[] => values.filter((_, d) => remain[d])
  return { color, key, shape: { dims: kept(dims), periods: kept(periods) } }
}

/**
 * Returns the extents of a grid of `nodes` ranks with `ndims` dimensions, as close to each other as possible. Non-zero
 * elements of `fixed` stay; the others are filled in non-increasing order, with the smallest difference between the
 * largest and the smallest extent; ties go to the smallest first extent, then the smallest second, and so on.
 *
 * @throws ERR_DIMS when the fixed extents do not divide `nodes`, and for more than 32 dimensions
 * @see MPI-4.1 §8.5.2 (MPI_Dims_create)
 */
export function dimsCreate(nodes: number, ndims: number, fixed?: readonly number[]): number[] {
  if (!Number.isInteger(nodes) || nodes < 1 || nodes > topologyLimits.ranks)
    fail(`expected 1 to ${topologyLimits.ranks} ranks, got ${shown(nodes)}`)
  checkDimensions(ndims, 0)
  const given = fixed ?? new Array<number>(ndims).fill(0)
  if (!Array.isArray(given)) fail(`expected fixed extents as an array, got ${shown(given)}`)
  return extentsOf(nodes, ndims, given)
}

function extentsOf(nodes: number, ndims: number, fixed: readonly number[]): number[] {
  if (fixed.length !== ndims) fail(`expected ${ndims} extents, 0 for free ones, got ${fixed.length}`)
  for (const [d, extent] of fixed.entries())
    if (!Number.isInteger(extent) || extent < 0)
      fail(`dimension ${d}: expected 0 or a fixed extent of at least 1, got ${shown(extent)}`)
  const taken = fixed.reduce((product, extent) => product * (extent || 1), 1)
  const free = fixed.filter((extent) => extent === 0).length
  if (nodes % taken !== 0 || (free === 0 && nodes !== taken))
    fail(
      `expected fixed extents whose product ${free === 0 ? 'is' : 'divides'} ${nodes}, got ${fixed.join('x')}`,
    )
  const factors = balancedFactors(nodes / taken, free)
  return fixed.map((extent) => extent || factors.shift()!)
}

/** Returns non-increasing factors of `product` with the smallest spread; of these the lexicographically smallest. */
function balancedFactors(product: number, count: number): number[] {
  if (count === 0) return []
  const divisors = divisorsOf(product)
  let best: number[] = []
  let bestSpread = Number.POSITIVE_INFINITY
  const chosen: number[] = []
  const search = (rest: number, left: number, largest: number): void => {
    if (left === 0) {
      // Found in lexicographic order, so a later one with an equal spread is not better.
      const spread = chosen[0] - chosen[count - 1]
      if (rest === 1 && spread < bestSpread) {
        best = [...chosen]
        bestSpread = spread
      }
      return
    }
    const prime = largestPrimeOf(rest)
    for (const factor of divisors) {
      if (factor > largest || (chosen[0] ?? factor) - factor >= bestSpread) continue
      // The remaining factors are no larger, so this one is at least the largest prime and the root of the
      // rest.
      if (factor < prime || factor ** left < rest || rest % factor !== 0) continue
      // The remaining factors must not increase the spread, so the smallest ones allowed must fit into the
      // rest.
      const smallest = Math.max(1, (chosen[0] ?? factor) - bestSpread + 1)
      if (smallest ** (left - 1) > rest / factor) continue
      chosen.push(factor)
      search(rest / factor, left - 1, factor)
      chosen.pop()
    }
  }
  search(product, count, product)
  return best
}

function divisorsOf(n: number): number[] {
  const small: number[] = []
  const large: number[] = []
  for (let d = 1; d * d <= n; d++)
    if (n % d === 0) {
      small.push(d)
      if (d * d !== n) large.unshift(n / d)
    }
  return [...small, ...large]
}

function largestPrimeOf(n: number): number {
  let largest = 1
  let rest = n
  for (let p = 2; p * p <= rest; p++)
    while (rest % p === 0) {
      largest = p
      rest /= p
    }
  return Math.max(largest, rest)
}

function fail(message: string): never {
  throw new RankweaveError('ERR_DIMS', message)
}
