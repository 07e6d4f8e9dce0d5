import { requireOptions } from '../base/known-options.js'
import { firstNotBelow } from '../base/search.js'
import { wrongValue } from '../errors.js'
import type { CompressedRows } from '../topology/compressed-rows.js'
import { findTranslations } from '../topology/generate/translations.js'
import { communitiesOf, type VertexPairs } from '../topology/mapping/communities.js'
import { distinctOut } from '../topology/neighbors.js'
import { type ProcessTopology, requireTopology } from '../topology/process-topology.js'
import { type TopologyStatistics, topologyStatistics } from '../topology/topology-statistics.js'
import { type Histogram, histograms } from './histogram.js'

/** The data of the pictures of a topology. */
export interface TopologyView {
  readonly name: string
  readonly statistics: TopologyStatistics
  /** The numbers of destinations and sources per rank, in the same bins. */
  readonly degrees: { readonly out: Histogram; readonly in: Histogram }
  readonly graph: GraphView
  /** The neighbors of the requested rank. */
  readonly neighborhood: NeighborhoodView | null
  /** All edges; null if they were not requested or are too many. */
  readonly adjacency: AdjacencyView | null
}

interface TopologyViewOptions {
  /** The name of the topology. */
  readonly name: string
  /** The rank whose neighbors are included. */
  readonly rank?: number
  /** Whether all edges are included, as in a file that cannot query a service. Default: false. */
  readonly adjacency?: boolean
}

/**
 * Gathers the data of a topology's pictures, at most about 1 MB as JSON, and 2 MB more with its edges.
 *
 * @throws ERR_TOPOLOGY for an invalid topology
 * @throws ERR_RANK for a rank out of range
 */
export function topologyView(topology: ProcessTopology, options: TopologyViewOptions): TopologyView {
  requireTopology(topology)
  requireOptions('topologyView', options)
  const { name, rank, adjacency = false } = options
  requireRankIn(topology.ranks, rank)
  const rows = distinctOut(topology)
  const [out, into] = histograms(degreesOf(topology.outStart), degreesOf(topology.inStart))
  return {
    name,
    statistics: topologyStatistics(topology),
    degrees: { out, in: into },
    graph: graphView(topology),
    neighborhood: rank === undefined ? null : neighborhoodView(rows, rank),
    adjacency: adjacency ? adjacencyView(rows) : null,
  }
}

/** @throws ERR_RANK */
export function requireRankIn(ranks: number, rank: number | undefined): void {
  if (rank === undefined || (Number.isInteger(rank) && rank >= 0 && rank < ranks)) return
  throw wrongValue('ERR_RANK', `expected a rank from 0 to ${ranks - 1}`, rank)
}

function degreesOf(start: Int32Array): Int32Array {
  return Int32Array.from({ length: start.length - 1 }, (_, rank) => start[rank + 1] - start[rank])
}

/**
 * A topology as a graph to be drawn. Up to {@link mostVertices} ranks, every rank is a vertex. Beyond, a vertex is a
 * tile of the grid that the topology is a stencil of, or a block of consecutive ranks.
 */
export interface GraphView {
  readonly vertices: number
  readonly tiling: Tiling
  /** The number of ranks of every vertex. */
  readonly size: readonly number[]
  /** The grid's coordinates on a plane; null if no grid is known, so that a layout has to be computed. */
  readonly position: { readonly x: readonly number[]; readonly y: readonly number[] } | null
  /** The community of every vertex, by the Louvain method on this graph with edges as weights. */
  readonly community: readonly number[]
  readonly communities: number
  /** The pairs of different vertices with edges in either direction, `from[i] < to[i]`. */
  readonly from: readonly number[]
  readonly to: readonly number[]
  /** The number of edges of the topology between the ranks of a pair, in both directions. */
  readonly edges: readonly number[]
  /**
   * The number of connected pairs that the lists omit because there are more than {@link mostPairs}: those with the
   * fewest edges.
   */
  readonly pairsLeftOut: number
}

const mostVertices = 2000
const mostPairs = 30_000
const aggregatedVertices = 600
const gridWork = 3e7

/** Returns the extents of the grid that a topology is a stencil of; null if little work finds none. */
function gridOf(topology: ProcessTopology): readonly number[] | null {
  if (topology.cart !== null) return topology.cart.dims
  if (topology.outRank.length === 0) return null
  const found = findTranslations(topology, { mostDims: 3, workLimit: gridWork })
  return found.kind === 'invariant' ? found.dims : null
}

function graphView(topology: ProcessTopology): GraphView {
  const { ranks } = topology
  const grid = gridOf(topology)
  const tiling = tilingOf(ranks, grid)
  const vertex = Int32Array.from({ length: ranks }, (_, rank) => vertexOf(tiling, rank))
  const vertices = vertex.reduce((most, v) => Math.max(most, v + 1), 0)
  const size = new Array<number>(vertices).fill(0)
  for (const v of vertex) size[v]++
  const pairs = vertexPairs(distinctOut(topology), vertex, vertices)
  const community = communitiesOf(vertices, pairs)
  const shown = heaviest(pairs)
  return {
    vertices,
    tiling,
    size,
    position: grid === null ? null : positionsOf(grid, vertex, size),
    community,
    communities: community.reduce((most, c) => Math.max(most, c + 1), 0),
    ...shown,
    pairsLeftOut: pairs.from.length - shown.from.length,
  }
}

function tilingOf(ranks: number, grid: readonly number[] | null): Tiling {
  if (ranks <= mostVertices) return { kind: 'blocks', ranks: 1 }
  if (grid === null) return { kind: 'blocks', ranks: Math.ceil(ranks / aggregatedVertices) }
  const tile = grid.map(() => 1)
  const tiles = () => grid.reduce((product, extent, d) => product * Math.ceil(extent / tile[d]), 1)
  // Halve the dimension with the most tiles until there are few enough.
  while (tiles() > aggregatedVertices) {
    const most = grid.reduce((best, extent, d) => (extent / tile[d] > grid[best] / tile[best] ? d : best), 0)
    tile[most] *= 2
  }
  return { kind: 'tiles', dims: grid, tile }
}

/** Returns the pairs in ascending order of (from, to). Memory: one number per pair of neighboring vertices. */
function vertexPairs({ start, rank }: CompressedRows, vertex: Int32Array, vertices: number): VertexPairs {
  const count = new Map<number, number>()
  for (let p = 0; p < vertex.length; p++) {
    for (let e = start[p]; e < start[p + 1]; e++) {
      const [a, b] = [vertex[p], vertex[rank[e]]]
      if (a === b) continue
      const key = a < b ? a * vertices + b : b * vertices + a
      count.set(key, (count.get(key) ?? 0) + 1)
    }
  }
  const keys = [...count.keys()].sort((a, b) => a - b)
  return {
    from: keys.map((key) => Math.floor(key / vertices)),
    to: keys.map((key) => key % vertices),
    edges: keys.map((key) => count.get(key)!),
  }
}

function heaviest(pairs: VertexPairs): VertexPairs {
  if (pairs.from.length <= mostPairs) return pairs
  const order = pairs.edges
    .map((_, i) => i)
    .sort((a, b) => pairs.edges[b] - pairs.edges[a] || a - b)
    .slice(0, mostPairs)
    .sort((a, b) => a - b)
  return {
    from: order.map((i) => pairs.from[i]),
    to: order.map((i) => pairs.to[i]),
    edges: order.map((i) => pairs.edges[i]),
  }
}

/**
 * Averages the ranks' coordinates per vertex: a line is bent to a circle, two dimensions lie flat, a third is drawn
 * aslant.
 */
function positionsOf(
  grid: readonly number[],
  vertex: Int32Array,
  size: readonly number[],
): { readonly x: readonly number[]; readonly y: readonly number[] } {
  const x = size.map(() => 0)
  const y = size.map(() => 0)
  for (let rank = 0; rank < vertex.length; rank++) {
    const [atX, atY] = positionOf(grid, rank)
    x[vertex[rank]] += atX / size[vertex[rank]]
    y[vertex[rank]] += atY / size[vertex[rank]]
  }
  const rounded = (values: readonly number[]) => values.map((value) => Number(value.toFixed(3)))
  return { x: rounded(x), y: rounded(y) }
}

/** A mapping of ranks to vertices. */
type Tiling =
  /** Vertex v stands for ranks `v * ranks` up to the next. */
  | { readonly kind: 'blocks'; readonly ranks: number }
  /**
   * A row-major grid of ranks is cut into tiles, themselves row-major; those at the end of a dimension may be smaller.
   */
  | { readonly kind: 'tiles'; readonly dims: readonly number[]; readonly tile: readonly number[] }

export function vertexOf(tiling: Tiling, rank: number): number {
  if (tiling.kind === 'blocks') return Math.floor(rank / tiling.ranks)
  const { dims, tile } = tiling
  let vertex = 0
  let rest = rank
  let scale = 1
  for (let d = dims.length - 1; d >= 0; d--) {
    vertex += Math.floor((rest % dims[d]) / tile[d]) * scale
    rest = Math.floor(rest / dims[d])
    scale *= Math.ceil(dims[d] / tile[d])
  }
  return vertex
}

/** Returns the point at which a rank of a grid is drawn. */
export function positionOf(grid: readonly number[], rank: number): readonly [x: number, y: number] {
  const extents = grid.filter((extent) => extent > 1)
  if (extents.length <= 1) {
    const ranks = extents[0] ?? 1
    const angle = (2 * Math.PI * rank) / ranks
    const radius = ranks / (2 * Math.PI)
    return [radius * Math.sin(angle), radius * Math.cos(angle)]
  }
  let rest = rank
  const at: number[] = []
  for (let d = extents.length - 1; d >= 0; d--) {
    at.unshift(rest % extents[d])
    rest = Math.floor(rest / extents[d])
  }
  const [column, row, ...outer] = at.toReversed()
  let [x, y] = [column, -row]
  // Each further dimension is drawn aslant; its steps are short if the planes before it are small.
  for (const [i, step] of outer.entries()) {
    const reach = extents[extents.length - 1] * (i === 0 ? 0.28 : 1.6)
    x += step * Math.max(0.35, reach / 2)
    y += step * Math.max(0.3, reach / 2.6)
  }
  return [x, y]
}

/**
 * The destinations of all ranks, ascending, each once. A row lists its first destination, then differences, which are
 * short in decimal.
 */
interface AdjacencyView {
  readonly degree: readonly number[]
  readonly step: readonly number[]
}

/** The most edges that {@link adjacencyView} lists. As JSON they take 0.5 MB for most topologies and 2 MB at most. */
const mostEdges = 350_000

/** Lists the destinations of all ranks; null beyond {@link mostEdges}. */
function adjacencyView({ start, rank }: CompressedRows): AdjacencyView | null {
  if (rank.length > mostEdges || start.length > mostEdges) return null
  const ranks = start.length - 1
  const degree = Array.from({ length: ranks }, (_, p) => start[p + 1] - start[p])
  const step = Array.from(rank)
  for (let p = 0; p < ranks; p++) for (let e = start[p + 1] - 1; e > start[p]; e--) step[e] -= step[e - 1]
  return { degree, step }
}

/** Returns the rows that an adjacency view encodes. */
export function rowsOf({ degree, step }: AdjacencyView): CompressedRows {
  const start = new Int32Array(degree.length + 1)
  const rank = Int32Array.from(step)
  for (let p = 0; p < degree.length; p++) {
    start[p + 1] = start[p] + degree[p]
    for (let e = start[p] + 1; e < start[p + 1]; e++) rank[e] += rank[e - 1]
  }
  return { start, rank }
}

/** A rank, its neighbors and the edges among them. */
export interface NeighborhoodView {
  readonly rank: number
  /** The ranks that `rank` sends to, ascending, each once. At most {@link mostNeighbors}. */
  readonly out: readonly number[]
  /** The ranks that send to `rank`, ascending, each once. At most {@link mostNeighbors}. */
  readonly in: readonly number[]
  /** The edges among the neighbors, as pairs; at most {@link mostAmong}. */
  readonly from: readonly number[]
  readonly to: readonly number[]
  /** Whether neighbors or edges among them were omitted. */
  readonly isCut: boolean
}

const mostNeighbors = 1000
const mostAmong = 5000

/**
 * @param rows the destinations of every rank, ascending, each once
 * @param rank below `rows.start.length - 1`
 */
export function neighborhoodView(rows: CompressedRows, rank: number): NeighborhoodView {
  const { start } = rows
  const ranks = start.length - 1
  const allOut = [...rows.rank.subarray(start[rank], start[rank + 1])]
  const allIn: number[] = []
  for (let p = 0; p < ranks; p++) if (hasEdge(rows, p, rank)) allIn.push(p)
  const out = allOut.slice(0, mostNeighbors)
  const into = allIn.slice(0, mostNeighbors)
  const near = new Set([...out, ...into])
  near.delete(rank)
  const from: number[] = []
  const to: number[] = []
  let isCut = out.length < allOut.length || into.length < allIn.length
  for (const p of near) {
    for (let e = start[p]; e < start[p + 1]; e++) {
      if (!near.has(rows.rank[e]) || rows.rank[e] === p) continue
      if (from.length === mostAmong) {
        isCut = true
        break
      }
      from.push(p)
      to.push(rows.rank[e])
    }
  }
  return { rank, out, in: into, from, to, isCut }
}

function hasEdge({ start, rank }: CompressedRows, from: number, to: number): boolean {
  const end = start[from + 1]
  const at = firstNotBelow(rank, to, start[from], end)
  return at < end && rank[at] === to
}
