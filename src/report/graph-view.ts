import type { CompressedRows } from '../topology/compressed-rows.js'
import { findTranslations } from '../topology/generate/translations.js'
import { communitiesOf, type VertexPairs } from '../topology/mapping/communities.js'
import { distinctOut } from '../topology/neighbors.js'
import type { ProcessTopology } from '../topology/process-topology.js'
import { positionOf, type Tiling, vertexOf } from './tiling.js'

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

export const mostVertices = 2000
export const mostPairs = 30_000
const aggregatedVertices = 600
const gridWork = 3e7

/** Returns the extents of the grid that a topology is a stencil of; null if little work finds none. */
export function gridOf(topology: ProcessTopology): readonly number[] | null {
  if (topology.cart !== null) return topology.cart.dims
  if (topology.outRank.length === 0) return null
  const found = findTranslations(topology, { mostDims: 3, workLimit: gridWork })
  return found.kind === 'invariant' ? found.dims : null
}

export function graphView(topology: ProcessTopology): GraphView {
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
