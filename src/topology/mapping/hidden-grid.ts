import { largestRow, type NeighborSets } from '../neighbors.js'

/** A grid, and where in it each vertex is. */
export interface PlacedGrid {
  readonly dims: readonly number[]
  /** The place of every vertex: row-major, the last dimension fastest. */
  readonly placeOf: Int32Array
}

/** Grids of up to four dimensions have no more neighbors. */
export const mostGridNeighbors = 8

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
