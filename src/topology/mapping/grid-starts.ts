import { findTranslations } from '../generate/translations.js'
import { distinctIn, distinctOut, largestRow, type NeighborSets } from '../neighbors.js'
import type { ProcessTopology } from '../process-topology.js'
import { exchangeGraph } from './weighted-graph.js'

/** A mapping by boxes of a grid. */
interface GridStart {
  readonly start: string
  readonly nodeOf: Int32Array
}

interface GridStartOptions {
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

/** A grid, and where in it each vertex is. */
interface PlacedGrid {
  readonly dims: readonly number[]
  /** The place of every vertex: row-major, the last dimension fastest. */
  readonly placeOf: Int32Array
}

/** Grids of up to four dimensions have no more neighbors. */
const mostGridNeighbors = 8

/**
 * Finds the grid that a graph is, whatever the numbers of its vertices. A grid is a connected Cartesian product of
 * paths and cycles with at most 8 neighbors per vertex. Edges of one dimension are those that are opposite in a square,
 * or meet without a square.
 *
 * Time: in proportion to edges, and to the cube of neighbors.
 *
 * @param rows of an undirected graph without loops and parallel edges
 * @returns null for most other graphs; for the rest a grid without some of their edges, with each place once
 * @see Feder 1992, Product graph representations
 */
export function hiddenGrid(rows: NeighborSets): PlacedGrid | null {
  const vertices = rows.start.length - 1
  if (largestRow(rows) > mostGridNeighbors) return null
  const dimensionOf = edgeDimensions(rows)
  const count = dimensionOf.reduce((most, dimension) => Math.max(most, dimension + 1), 0)
  if (count === 0 || count > mostGridNeighbors) return null
  const lines: Line[] = []
  for (let dimension = 0; dimension < count; dimension++) {
    const line = lineOf(rows, dimensionOf, dimension)
    if (line === null) return null
    lines.push(line)
  }
  const joined = pairsJoined(lines)
  const dims = joined.map(({ extent }) => extent)
  if (dims.reduce((product, extent) => product * extent, 1) !== vertices) return null
  const placeOf = Int32Array.from({ length: vertices }, (_, v) =>
    joined.reduce((place, { extent, at }) => place * extent + at[v], 0),
  )
  return new Set(placeOf).size === vertices ? { dims, placeOf } : null
}

/** Returns the same grid with its dimensions in another order: `order[i]` becomes dimension i. */
export function turnedGrid({ dims, placeOf }: PlacedGrid, order: readonly number[]): PlacedGrid {
  const steps = dims.map((_, d) => dims.slice(d + 1).reduce((product, extent) => product * extent, 1))
  return {
    dims: order.map((d) => dims[d]),
    placeOf: placeOf.map((place) =>
      order.reduce((turned, d) => turned * dims[d] + (Math.floor(place / steps[d]) % dims[d]), 0),
    ),
  }
}

/** Returns the place of a neighbor in a row; -1 if it is not in the row. */
function entryOf({ start, rank }: NeighborSets, v: number, neighbor: number): number {
  for (let e = start[v]; e < start[v + 1]; e++) if (rank[e] === neighbor) return e
  return -1
}

/** Returns for every entry of the rows the dimension of its edge: classes of edges, numbered from 0. */
function edgeDimensions(rows: NeighborSets): Int32Array {
  const { start, rank } = rows
  const above = Int32Array.from(rank.keys())
  const find = (e: number) => {
    while (above[e] !== e) e = above[e] = above[above[e]]
    return e
  }
  const unite = (e: number, f: number) => {
    above[find(e)] = find(f)
  }
  for (let u = 0; u < start.length - 1; u++)
    for (let e = start[u]; e < start[u + 1]; e++) {
      unite(e, entryOf(rows, rank[e], u))
      for (let f = start[u]; f < e; f++) {
        const square = squareOf(rows, u, rank[e], rank[f])
        if (square === null) unite(e, f)
        else {
          unite(e, square[1])
          unite(f, square[0])
        }
      }
    }
  const numbers = new Map<number, number>()
  return above.map((_, e) => {
    const root = find(e)
    if (!numbers.has(root)) numbers.set(root, numbers.size)
    return numbers.get(root)!
  })
}

/**
 * Returns the entries, in the rows of two neighbors of u, of the only other vertex to which both are joined; null
 * unless there is exactly one.
 */
function squareOf(rows: NeighborSets, u: number, v: number, w: number): readonly [number, number] | null {
  if (entryOf(rows, v, w) >= 0) return null
  let square: readonly [number, number] | null = null
  for (let e = rows.start[v]; e < rows.start[v + 1]; e++) {
    if (rows.rank[e] === u) continue
    const across = entryOf(rows, w, rows.rank[e])
    if (across < 0) continue
    if (square !== null) return null
    square = [e, across]
  }
  return square
}

/** A dimension: its extent, and the coordinate of each vertex along it. */
interface Line {
  readonly extent: number
  readonly at: Int32Array
}

/**
 * Orders the layers that remain without the edges of a dimension. Null unless they follow each other in a path or
 * cycle.
 */
function lineOf(rows: NeighborSets, dimensionOf: Int32Array, dimension: number): Line | null {
  const { start, rank } = rows
  const vertices = start.length - 1
  const layerOf = new Int32Array(vertices).fill(-1)
  const queue = new Int32Array(vertices)
  let layers = 0
  for (let root = 0, head = 0, found = 0; root < vertices; root++) {
    if (layerOf[root] >= 0) continue
    layerOf[root] = layers
    queue[found++] = root
    for (; head < found; head++)
      for (let e = start[queue[head]]; e < start[queue[head] + 1]; e++) {
        if (dimensionOf[e] === dimension || layerOf[rank[e]] >= 0) continue
        layerOf[rank[e]] = layers
        queue[found++] = rank[e]
      }
    layers++
  }
  const near = Array.from({ length: layers }, () => new Set<number>())
  for (let v = 0; v < vertices; v++)
    for (let e = start[v]; e < start[v + 1]; e++)
      if (dimensionOf[e] === dimension) near[layerOf[v]].add(layerOf[rank[e]])
  if (near.some((each) => each.size > 2)) return null
  const placeOf = new Int32Array(layers).fill(-1)
  const end = near.findIndex((each) => each.size < 2)
  let extent = 0
  for (let layer: number | undefined = Math.max(0, end); layer !== undefined; ) {
    placeOf[layer] = extent++
    layer = [...near[layer]].find((next) => placeOf[next] < 0)
  }
  return extent === layers ? { extent, at: layerOf.map((layer) => placeOf[layer]) } : null
}

/** Joins pairs of dimensions of extent 2 to one of extent 4, because a cycle of four is a product of two edges. */
function pairsJoined(lines: readonly Line[]): readonly Line[] {
  const edges = lines.filter(({ extent }) => extent === 2)
  const joined = lines.filter(({ extent }) => extent > 2)
  for (let i = 0; i + 1 < edges.length; i += 2) {
    const [low, high] = [edges[i].at, edges[i + 1].at]
    joined.push({ extent: 4, at: low.map((bit, v) => 2 * high[v] + (bit ^ high[v])) })
  }
  return edges.length % 2 === 0 ? joined : [...joined, edges[edges.length - 1]]
}

/**
 * Puts the vertices of a grid on nodes by halving the longest side, again and again: into boxes of a node's capacity if
 * the sides divide evenly, else into boxes with a step.
 *
 * @param dims extents; vertices are row-major, the last dimension fastest
 * @param capacities of every node; their sum is the number of vertices
 * @returns the node of every vertex
 */
function byHalvedBoxes(dims: readonly number[], capacities: Int32Array): Int32Array {
  const vertices = dims.reduce((product, extent) => product * extent, 1)
  const nodeOf = new Int32Array(vertices)
  const coordinates = dims.map((_, d) => coordinateOf(dims, d))
  const before = new Int32Array(capacities.length + 1)
  for (let node = 0; node < capacities.length; node++) before[node + 1] = before[node] + capacities[node]
  const divide = (part: Int32Array, first: number, end: number) => {
    if (end - first === 1) {
      for (const v of part) nodeOf[v] = first
      return
    }
    const side = longestSide(part, coordinates)
    const along = coordinates[side]
    // Ties are broken by the other coordinates, which the number of a vertex orders.
    const ordered = part.toSorted((a, b) => along(a) - along(b) || a - b)
    const middle = (first + end) >> 1
    const size = before[middle] - before[first]
    divide(ordered.subarray(0, size), first, middle)
    divide(ordered.subarray(size), middle, end)
  }
  divide(Int32Array.from(nodeOf.keys()), 0, capacities.length)
  return nodeOf
}

/**
 * Divides a grid into equal boxes of the given sides, row-major.
 *
 * @returns the box of every vertex
 */
function byEqualBoxes(dims: readonly number[], sides: readonly number[]): Int32Array {
  const coordinates = dims.map((_, d) => coordinateOf(dims, d))
  const vertices = dims.reduce((product, extent) => product * extent, 1)
  return Int32Array.from({ length: vertices }, (_, v) =>
    dims.reduce((box, extent, d) => box * (extent / sides[d]) + Math.floor(coordinates[d](v) / sides[d]), 0),
  )
}

/** Lists the ways to divide a grid into equal boxes of so many vertices: the sides of a box, at most 1,000 ways. */
function boxesOf(dims: readonly number[], vertices: number): number[][] {
  const [extent, ...others] = dims
  if (extent === undefined) return vertices === 1 ? [[]] : []
  const ways: number[][] = []
  for (let side = 1; side <= Math.min(extent, vertices) && ways.length < mostBoxWays; side++) {
    if (extent % side !== 0 || vertices % side !== 0) continue
    for (const rest of boxesOf(others, vertices / side)) ways.push([side, ...rest])
  }
  return ways.slice(0, mostBoxWays)
}

const mostBoxWays = 1000

function coordinateOf(dims: readonly number[], d: number): (vertex: number) => number {
  const step = dims.slice(d + 1).reduce((product, extent) => product * extent, 1)
  return (vertex) => Math.floor(vertex / step) % dims[d]
}

function longestSide(part: Int32Array, coordinates: readonly ((vertex: number) => number)[]): number {
  let [longest, side] = [-1, 0]
  for (const [d, at] of coordinates.entries()) {
    let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
    for (const v of part) {
      low = Math.min(low, at(v))
      high = Math.max(high, at(v))
    }
    if (high - low > longest) {
      longest = high - low
      side = d
    }
  }
  return side
}
