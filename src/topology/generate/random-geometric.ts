import { GrowingInt32Array } from '../../base/growing-array.js'
import { requireKnownOptions } from '../../base/known-options.js'
import { type OptionTable, uncheckedOptions } from '../../base/option.js'
import { mulberry32 } from '../../base/random.js'
import { RankweaveError, shown } from '../../errors.js'
import { rowStarts } from '../compressed-rows.js'
import { checkTopologySize } from '../limits.js'
import type { ProcessTopology } from '../process-topology.js'
import { unweightedTopology } from '../topology-builders.js'
import { checkNumber, checkSeed } from './check-random.js'

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

const knownOptions: OptionTable<RandomGeometric> = uncheckedOptions(
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
  requireKnownOptions('randomGeometricTopology', options, knownOptions)
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
