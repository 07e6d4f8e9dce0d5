import { findTranslations } from '../generate/translations.js'
import { distinctIn, distinctOut, largestRow } from '../neighbors.js'
import type { ProcessTopology } from '../process-topology.js'
import { hiddenGrid, mostGridNeighbors, type PlacedGrid, turnedGrid } from './hidden-grid.js'
import { boxesOf, byEqualBoxes, byHalvedBoxes } from './tiles.js'
import { exchangeGraph } from './weighted-graph.js'

/** A mapping by boxes of a grid. */
export interface GridStart {
  readonly start: string
  readonly nodeOf: Int32Array
}

export interface GridStartOptions {
  /** The number of slots of every node. */
  readonly capacities: Int32Array
  /** Whether the choice of node for a box matters: equal boxes are then numbered along every order of dimensions. */
  readonly isNumbered: boolean
}

/**
 * Grids of more ranks and edges are not turned; if there are more ways to divide a grid, they are not tried in all
 * orders.
 */
const mostTurned = 2 ** 17
const mostWays = 200

/**
 * Returns mappings by boxes. The topology must look the same from every rank of a grid, or be a Cartesian grid whose
 * ranks have lost their order.
 */
export function gridStarts(
  topology: ProcessTopology,
  { capacities, isNumbered }: GridStartOptions,
): GridStart[] {
  const grid = gridOf(topology)
  if (grid === null) return []
  const halved = { start: 'halved boxes', nodeOf: nodesOf(grid, byHalvedBoxes(grid.dims, capacities)) }
  const [capacity] = capacities
  if (capacities.some((each) => each !== capacity)) return [halved]
  const isTurned = isNumbered && topology.ranks + topology.outRank.length <= mostTurned
  const orders = ordersOf(grid.dims.length)
  const ways = boxesOf(grid.dims, capacity).length
  const tried = isTurned ? Math.max(1, Math.floor(mostWays / (1 + ways))) : 1
  return [halved, ...orders.slice(0, tried).flatMap((order) => equalBoxes(turnedGrid(grid, order), capacity))]
}

function equalBoxes(grid: PlacedGrid, capacity: number): GridStart[] {
  return boxesOf(grid.dims, capacity).map((sides) => ({
    start: `boxes of ${sides.join('x')}`,
    nodeOf: nodesOf(grid, byEqualBoxes(grid.dims, sides)),
  }))
}

/** Returns the node of every vertex, given the nodes of places. */
function nodesOf({ placeOf }: PlacedGrid, nodeOfPlace: Int32Array): Int32Array {
  return placeOf.map((place) => nodeOfPlace[place])
}

/**
 * Returns the grid of a topology; null if none was found, or if it has one dimension, whose blocks are the identity.
 */
function gridOf(topology: ProcessTopology): PlacedGrid | null {
  const { ranks, outStart, outRank } = topology
  const found = findTranslations(topology, { workLimit: 1e7 })
  if (found.kind === 'invariant') {
    const { dims } = found
    return dims.length < 2 ? null : { dims, placeOf: Int32Array.from({ length: ranks }, (_, v) => v) }
  }
  if (largestRow({ start: outStart, rank: outRank }) > mostGridNeighbors) return null
  const { start, to } = exchangeGraph(distinctOut(topology), distinctIn(topology))
  return hiddenGrid({ start, rank: to })
}

/** Lists all orders of so many dimensions; the ascending one is the first. */
function ordersOf(dimensions: number): number[][] {
  if (dimensions === 0) return [[]]
  const last = dimensions - 1
  return ordersOf(last).flatMap((order) =>
    Array.from({ length: dimensions }, (_, i) => order.toSpliced(last - i, 0, last)),
  )
}
