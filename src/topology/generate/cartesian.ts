import { RankweaveError, shown } from '../../errors.js'
import {
  cartNeighborSlots,
  checkCartShape,
  coordsOf,
  procNull,
  requireCartShape,
  sizeOf,
} from '../cart-shape.js'
import { checkTopologySize } from '../limits.js'
import type { CartShape, ProcessTopology } from '../process-topology.js'

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
