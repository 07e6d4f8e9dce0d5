import { requireKnownOptions } from '../../base/known-options.js'
import { type OptionTable, uncheckedOptions } from '../../base/option.js'
import { RankweaveError, shown } from '../../errors.js'
import { checkExtents, coordsOf, sizeOf } from '../cart-shape.js'
import { checkTopologySize } from '../limits.js'
import type { ProcessTopology } from '../process-topology.js'
import { unweightedTopology } from '../topology-builders.js'

export interface Moore {
  /** The extent of every dimension, any number of them. */
  readonly dims: readonly number[]
  /** The largest distance along any dimension, at least 1. */
  readonly radius: number
  /** Whether the grid wraps around. Default true. */
  readonly periodic?: boolean
}

const knownOptions: OptionTable<Moore> = uncheckedOptions('dims', 'radius', 'periodic')

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
  requireKnownOptions('mooreTopology', options, knownOptions)
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
