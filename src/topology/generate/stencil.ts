import { requireKnownOptions } from '../../base/known-options.js'
import { type OptionTable, uncheckedOptions } from '../../base/option.js'
import { RankweaveError, shown } from '../../errors.js'
import { checkCartShape, checkDimensions, checkExtents, coordsOf, sizeOf } from '../cart-shape.js'
import { checkTopologySize } from '../limits.js'
import type { ProcessTopology } from '../process-topology.js'
import { unweightedTopology } from '../topology-builders.js'

/**
 * The points within the radius: `star` along one axis, `box` in every dimension, `diamond` in the sum of
 * steps.
 */
export type StencilShape = 'star' | 'box' | 'diamond'

export const stencilShapes = ['star', 'box', 'diamond'] as const

export interface Stencil {
  readonly dims: readonly number[]
  /** Whether a dimension wraps around. Default: none does. */
  readonly periods?: readonly boolean[]
  /** The destinations of every rank relative to it: one step per dimension each. */
  readonly offsets: readonly (readonly number[])[]
}

const stencilOptions: OptionTable<Stencil> = uncheckedOptions('dims', 'periods', 'offsets')

/** Longer offsets lead out of every grid, and products of offsets must stay exact. */
const longestStep = 2 ** 24

const mostOffsets = 2 ** 20

/** Computes the number of offsets that {@link stencilOffsets} returns. */
export function stencilSize(shape: StencilShape, dimensions: number, radius: number): number {
  if (shape === 'star') return 2 * radius * dimensions
  if (shape === 'box') return (2 * radius + 1) ** dimensions - 1
  // Choose k of the dimensions that differ, their signs, and positive steps of sum at most the radius.
  let [size, choices] = [0, 1]
  for (let k = 1; k <= Math.min(dimensions, radius); k++) {
    choices *= (2 * (dimensions - k + 1) * (radius - k + 1)) / (k * k)
    size += choices
  }
  return Math.round(size)
}

/**
 * Returns the offsets of a stencil of a radius, without the center, from (-r, ..., -r) to (r, ..., r), the last
 * dimension fastest. In two dimensions `star` of radius 1 is the stencil of 5 points, `box` that of 9; in three those
 * of 7 and 27.
 *
 * @throws ERR_DIMS, also for more than 2^20 offsets
 */
export function stencilOffsets(shape: StencilShape, dimensions: number, radius: number): number[][] {
  if (!stencilShapes.includes(shape))
    throw new RankweaveError('ERR_DIMS', `expected star, box or diamond, got ${shown(shape)}`)
  if (!Number.isInteger(radius) || radius < 1)
    throw new RankweaveError('ERR_DIMS', `expected a radius of at least 1, got ${shown(radius)}`)
  checkDimensions(dimensions, 1)
  const size = stencilSize(shape, dimensions, radius)
  if (size > mostOffsets)
    throw new RankweaveError('ERR_DIMS', `stencil: expected at most ${mostOffsets} offsets, got ${size}`)
  const stepsOf = (offset: readonly number[]) => offset.reduce((steps, step) => steps + Math.abs(step), 0)
  let offsets: number[][] = [[]]
  for (let d = 0; d < dimensions; d++) {
    offsets = offsets.flatMap((before) => {
      const used = stepsOf(before)
      const left = shape === 'box' ? radius : shape === 'diamond' ? radius - used : used > 0 ? 0 : radius
      return Array.from({ length: 2 * left + 1 }, (_, i) => [...before, i - left])
    })
  }
  return offsets.filter((offset) => stepsOf(offset) > 0)
}

/**
 * Builds a topology with the same offsets from every rank of a grid. Offsets that lead out of a dimension that does not
 * wrap are left out. Ranks are row-major, the last dimension fastest. Destinations are in the order of the offsets, and
 * sources in the order of the offsets that lead from them (isomorphic neighborhoods). If a short dimension wraps,
 * offsets may lead to the same rank or to the rank itself; each stays its own edge.
 *
 * @throws ERR_DIMS, ERR_TOPOLOGY
 * @see Traeff, Luebbe, Rougier, Hunold 2015, Isomorphic, Sparse MPI-like Collective Communication Operations for
 *   Parallel Stencil Computations
 */
export function stencilTopology(options: Stencil): ProcessTopology {
  requireKnownOptions('stencilTopology', options, stencilOptions)
  const { dims, offsets } = options
  checkExtents(dims)
  const { periods = dims.map(() => false) } = options
  checkCartShape({ dims, periods })
  if (dims.length === 0) throw new RankweaveError('ERR_DIMS', 'expected at least one dimension, got none')
  // The cast to boolean keeps the type of the steps, which narrowing to arrays would lose.
  if (!(Array.isArray(offsets) as boolean))
    throw new RankweaveError('ERR_DIMS', `expected offsets as an array, got ${shown(offsets)}`)
  const isStep = (step: unknown): boolean => Number.isInteger(step) && Math.abs(step as number) <= longestStep
  for (const [i, offset] of offsets.entries())
    if (!Array.isArray(offset) || offset.length !== dims.length || !offset.every(isStep))
      throw new RankweaveError(
        'ERR_DIMS',
        `offset ${i}: expected ${dims.length} integers of at most ${longestStep} either way, got ${shown(offset)}`,
      )
  const ranks = sizeOf({ dims })
  checkTopologySize('stencil', ranks, ranks * offsets.length)
  const turned = offsets.map((offset) => offset.map((step) => -step))
  return unweightedTopology(rowsOf(dims, periods, offsets), rowsOf(dims, periods, turned))
}

function rowsOf(
  dims: readonly number[],
  periods: readonly boolean[],
  offsets: readonly (readonly number[])[],
): { readonly start: Int32Array; readonly rank: Int32Array } {
  const ranks = sizeOf({ dims })
  const start = new Int32Array(ranks + 1)
  const rank = new Int32Array(ranks * offsets.length)
  const coords = dims.map(() => 0)
  const steps = Int32Array.from(offsets.flat())
  let size = 0
  for (let p = 0; p < ranks; p++) {
    next: for (let o = 0; o < steps.length; o += dims.length) {
      let q = 0
      for (let d = 0; d < dims.length; d++) {
        const extent = dims[d]
        let c = coords[d] + steps[o + d]
        if (c < 0 || c >= extent) {
          if (!periods[d]) continue next
          c = ((c % extent) + extent) % extent
        }
        q = q * extent + c
      }
      rank[size++] = q
    }
    start[p + 1] = size
    for (let d = dims.length - 1; d >= 0 && ++coords[d] === dims[d]; d--) coords[d] = 0
  }
  return { start, rank: rank.slice(0, size) }
}

export interface Moore {
  /** The extent of every dimension, any number of them. */
  readonly dims: readonly number[]
  /** The largest distance along any dimension, at least 1. */
  readonly radius: number
  /** Whether the grid wraps around. Default true. */
  readonly periodic?: boolean
}

const mooreOptions: OptionTable<Moore> = uncheckedOptions('dims', 'radius', 'periodic')

/**
 * Builds a Moore neighborhood: all ranks within `radius` in every dimension are neighbors, (2r+1)^d - 1 of them on a
 * periodic grid. Ranks are row-major, the last dimension fastest. Sources and destinations of a rank are equal, ordered
 * by offset from (-r, ..., -r) to (r, ..., r), the last dimension fastest. If a periodic extent is below 2r+1, several
 * offsets lead to the same rank: it is listed once, at the first of them, and a rank is never its own neighbor.
 *
 * @throws ERR_DIMS, ERR_TOPOLOGY
 * @see Ghazimirsaeed 2019 §7.6.1
 */
export function mooreTopology(options: Moore): ProcessTopology {
  requireKnownOptions('mooreTopology', options, mooreOptions)
  const { dims, radius, periodic = true } = options
  checkExtents(dims)
  if (dims.length === 0) throw new RankweaveError('ERR_DIMS', 'expected at least one dimension, got none')
  if (!Number.isInteger(radius) || radius < 1)
    throw new RankweaveError('ERR_TOPOLOGY', `expected a radius of at least 1, got ${shown(radius)}`)
  const ranks = sizeOf({ dims })
  const maxDegree = dims.reduce((product, extent) => product * Math.min(2 * radius + 1, extent), 1) - 1
  checkTopologySize('Moore neighborhood', ranks, ranks * maxDegree)

  // Extents of 1 change nothing, so the work is proportional to ranks and edges.
  const wide = dims.filter((extent) => extent > 1)
  const start = new Int32Array(ranks + 1)
  const neighbors = new Int32Array(ranks * maxDegree)
  let edges = 0
  for (let rank = 0; rank < ranks; rank++) {
    // Coordinates of one dimension are distinct, hence so are their combinations.
    const near = coordsOf({ dims: wide }, rank).map((coord, d) =>
      nearCoords(coord, wide[d], radius, periodic),
    )
    for (const neighbor of product(near, wide)) if (neighbor !== rank) neighbors[edges++] = neighbor
    start[rank + 1] = edges
  }
  const rows = { start, rank: neighbors.slice(0, edges) }
  return unweightedTopology(rows, rows)
}

/** Lists the distinct coordinates within the radius, in order of their first offset. */
function nearCoords(coord: number, extent: number, radius: number, periodic: boolean): number[] {
  if (!periodic) {
    const from = Math.max(0, coord - radius)
    return Array.from({ length: Math.min(extent - 1, coord + radius) - from + 1 }, (_, i) => from + i)
  }
  const first = (((coord - radius) % extent) + extent) % extent
  return Array.from({ length: Math.min(2 * radius + 1, extent) }, (_, i) => (first + i) % extent)
}

/** Lists the row-major ranks of the Cartesian product of coordinates, the last dimension fastest. */
function product(coords: readonly (readonly number[])[], dims: readonly number[]): number[] {
  let ranks = [0]
  for (const [d, choices] of coords.entries())
    ranks = ranks.flatMap((rank) => choices.map((coord) => rank * dims[d] + coord))
  return ranks
}
