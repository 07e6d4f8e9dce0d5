import { RankweaveError, shown, wrongValue } from '../errors.js'
import { topologyLimits } from './limits.js'

/** A Cartesian grid; ranks are row-major, the last dimension fastest (MPI-4.1 §8.2). */
export interface CartShape {
  readonly dims: readonly number[]
  readonly periods: readonly boolean[]
}

/** The rank of a neighbor that does not exist, beyond the border of a grid (MPI_PROC_NULL). */
export const procNull = -2

/** Grids of more dimensions are refused: one of extents above 1 has at most 24, and work grows with each. */
const mostDimensions = 32

/**
 * Checks a shape: as many periods as dimensions, which are at most 32, extents of at least 1, and at most
 * {@link topologyLimits} ranks.
 * A shape without dimensions is a legal grid of one rank.
 *
 * @throws ERR_DIMS
 */
export function checkCartShape(shape: CartShape): void {
  requireCartShape(shape)
  const { dims, periods } = shape
  checkExtents(dims)
  for (const [d, periodic] of periods.entries())
    if (typeof periodic !== 'boolean') fail(`period ${d}: expected true or false, got ${shown(periodic)}`)
}

/**
 * Checks that a value has a period for every dimension, but not what the periods are. Takes constant time.
 * @throws ERR_DIMS
 */
export function requireCartShape(shape: CartShape): void {
  const { dims, periods } = Object(shape) as Partial<CartShape>
  if (!Array.isArray(dims)) fail(`expected the shape of a grid, with extents as an array, got ${shown(dims)}`)
  if (!Array.isArray(periods)) fail(`expected periods as an array, got ${shown(periods)}`)
  const [extents, flags] = [shape.dims.length, shape.periods.length]
  if (flags !== extents) fail(`expected one period for each of the ${extents} dimensions, got ${flags}`)
}

/** @throws ERR_DIMS unless it is an integer from `least` to 32 */
export function checkDimensions(count: number, least: number): void {
  if (!Number.isInteger(count) || count < least || count > mostDimensions)
    fail(`expected ${least} to ${mostDimensions} dimensions, got ${shown(count)}`)
}

/**
 * Checks extents: at most 32 integers of at least 1 whose product does not exceed the largest number of
 * ranks.
 * @throws ERR_DIMS
 */
export function checkExtents(dims: readonly number[]): void {
  if (!Array.isArray(dims)) fail(`expected extents as an array, got ${shown(dims)}`)
  checkDimensions(dims.length, 0)
  let ranks = 1
  for (const [d, extent] of dims.entries()) {
    if (!Number.isInteger(extent) || extent < 1)
      fail(`dimension ${d}: expected an extent of at least 1, got ${shown(extent)}`)
    ranks *= extent
  }
  if (ranks > topologyLimits.ranks)
    fail(`grid of ${dims.join('x')}: expected at most ${topologyLimits.ranks} ranks, got ${ranks}`)
}

/** Returns the number of ranks of a grid. */
export function sizeOf({ dims }: Pick<CartShape, 'dims'>): number {
  return dims.reduce((product, extent) => product * extent, 1)
}

/**
 * Returns the coordinates of a rank.
 *
 * @throws ERR_RANK
 * @see MPI-4.1 §8.5.5 (MPI_Cart_coords)
 */
export function coordsOf({ dims }: Pick<CartShape, 'dims'>, rank: number): number[] {
  const ranks = sizeOf({ dims })
  if (!Number.isInteger(rank) || rank < 0 || rank >= ranks) {
    const expected = `expected a rank from 0 to ${ranks - 1}`
    throw wrongValue('ERR_RANK', expected, rank, typeof rank === 'number' ? { rank } : {})
  }
  const coords = new Array<number>(dims.length)
  let rest = rank
  for (let d = dims.length - 1; d >= 0; d--) {
    coords[d] = rest % dims[d]
    rest = Math.floor(rest / dims[d])
  }
  return coords
}

/**
 * Returns the rank at the given coordinates. Coordinates of periodic dimensions wrap around.
 *
 * @throws ERR_DIMS for a coordinate outside a dimension that is not periodic, or a wrong number of coordinates
 * @see MPI-4.1 §8.5.5 (MPI_Cart_rank)
 */
export function rankOf(shape: CartShape, coords: readonly number[]): number {
  const { dims, periods } = shape
  if (!Array.isArray(coords)) fail(`expected coordinates as an array, got ${shown(coords)}`)
  if (coords.length !== dims.length) fail(`expected ${dims.length} coordinates, got ${coords.length}`)
  let rank = 0
  for (let d = 0; d < dims.length; d++) {
    if (!Number.isInteger(coords[d])) fail(`coordinate ${d}: expected an integer, got ${shown(coords[d])}`)
    const coord = periods[d] ? wrap(coords[d], dims[d]) : coords[d]
    if (coord < 0 || coord >= dims[d])
      fail(`coordinate ${d}: expected 0 to ${dims[d] - 1} in a dimension that is not periodic, got ${coord}`)
    rank = rank * dims[d] + coord
  }
  return rank
}

/**
 * Returns the ranks that a rank receives from and sends to in a shift along one dimension: `source` is `displacement`
 * behind, `dest` the same distance ahead; -2 ({@link procNull}) beyond a border that does not wrap.
 *
 * @throws ERR_DIMS, ERR_RANK
 * @see MPI-4.1 §8.5.6 (MPI_Cart_shift)
 */
export function cartShift(
  shape: CartShape,
  rank: number,
  dimension: number,
  displacement: number,
): { readonly source: number; readonly dest: number } {
  requireCartShape(shape)
  const { dims, periods } = shape
  if (!Number.isInteger(dimension) || dimension < 0 || dimension >= dims.length)
    fail(`expected a dimension 0 to ${dims.length - 1}, got ${shown(dimension)}`)
  if (!Number.isSafeInteger(displacement))
    fail(`expected an integer displacement, got ${shown(displacement)}`)
  const coord = coordsOf(shape, rank)[dimension]
  const extent = dims[dimension]
  const stride = sizeOf({ dims: dims.slice(dimension + 1) })
  const at = (target: number): number => {
    const wrapped = periods[dimension] ? wrap(target, extent) : target
    return wrapped < 0 || wrapped >= extent ? procNull : rank + (wrapped - coord) * stride
  }
  return { source: at(coord - displacement), dest: at(coord + displacement) }
}

/**
 * Returns the neighbors of a rank as MPI lays out the buffers of neighborhood collectives on a grid: per dimension
 * first the one behind, then the one ahead; -2 ({@link procNull}) without a neighbor, whose slot in the buffers
 * remains. The same for sources and destinations. Length `2 * dims.length`. Time: O(dims).
 *
 * @throws ERR_RANK
 * @see MPI-4.1 §8.6
 */
export function cartNeighborSlots(shape: CartShape, rank: number): Int32Array {
  requireCartShape(shape)
  const { dims, periods } = shape
  const coords = coordsOf(shape, rank)
  const slots = new Int32Array(2 * dims.length)
  let stride = 1
  for (let d = dims.length - 1; d >= 0; d--) {
    const last = dims[d] - 1
    const around = periods[d] ? last * stride : procNull - rank
    slots[2 * d] = rank + (coords[d] > 0 ? -stride : around)
    slots[2 * d + 1] = rank + (coords[d] < last ? stride : periods[d] ? -around : around)
    stride *= dims[d]
  }
  return slots
}

function wrap(coord: number, extent: number): number {
  return ((coord % extent) + extent) % extent
}

function fail(message: string): never {
  throw new RankweaveError('ERR_DIMS', message)
}
