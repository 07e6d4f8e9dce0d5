import { requireKnownOptions } from '../../base/known-options.js'
import { type OptionTable, uncheckedOptions } from '../../base/option.js'
import { RankweaveError, shown } from '../../errors.js'
import { checkCartShape, checkDimensions, checkExtents, sizeOf } from '../cart-shape.js'
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

const knownOptions: OptionTable<Stencil> = uncheckedOptions('dims', 'periods', 'offsets')

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
  requireKnownOptions('stencilTopology', options, knownOptions)
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
