import { getOrAdd } from '../../base/maps.js'
import { mulberry32 } from '../../base/random.js'
import { indexIn } from '../../base/search.js'
import { topologyFromEdges } from '../topology-builders.js'
import { mapTopology } from './map-topology.js'
import type { MappingObjective } from './problem.js'
import { areAmounts } from './weighted-graph.js'

/** Vertices of a part in clusters of one size. */
export interface Clusters {
  readonly size: number
  /** The cluster of every vertex of the part; -1: it stays where it is. */
  readonly clusterOf: Int32Array
  /** The vertices of every cluster, ascending: those of cluster c from `c * size` on. */
  readonly members: Int32Array
  /** The node on which each cluster is. */
  readonly nodeOf: Int32Array
}

/** Counts the clusters of a size that the vertices of a part make. */
export function clusterCount(nodeOf: Int32Array, size: number): number {
  let clusters = 0
  for (const vertices of verticesByNode(nodeOf).values()) clusters += Math.floor(vertices.length / size)
  return clusters
}

/**
 * Grows clusters on every node: each from the first vertex that is left, by the neighbor that is bound most heavily to
 * it. The vertices that remain on a node, fewer than a cluster has, stay there.
 *
 * Time: proportional to edges times the neighbors of a cluster.
 *
 * @param nodeOf the node of every vertex of the part
 * @see Karypis and Kumar 1998 (greedy graph growing)
 */
export function growClusters(graph: PartGraph, nodeOf: Int32Array, size: number): Clusters {
  const clusterOf = new Int32Array(nodeOf.length).fill(-1)
  const bonds = bondsOf(graph)
  const nodes: number[] = []
  for (const [node, vertices] of [...verticesByNode(nodeOf)].sort(([a], [b]) => a - b)) {
    let next = 0
    const firstLeft = () => {
      while (clusterOf[vertices[next]] >= 0) next++
      return vertices[next]
    }
    for (let grown = 0; grown < Math.floor(vertices.length / size); grown++) {
      growOne(bonds, { clusterOf, nodeOf, size, cluster: nodes.length }, firstLeft)
      nodes.push(node)
    }
  }
  return {
    size,
    clusterOf,
    members: membersOf(clusterOf, nodes.length, size),
    nodeOf: Int32Array.from(nodes),
  }
}

function verticesByNode(nodeOf: Int32Array): Map<number, number[]> {
  const byNode = new Map<number, number[]>()
  for (let v = 0; v < nodeOf.length; v++) getOrAdd(byNode, nodeOf[v], () => []).push(v)
  return byNode
}

/** Edges within the part, from and to every vertex. */
interface Bonds {
  /** Length: vertices + 1. */
  readonly start: Int32Array
  readonly to: Int32Array
  readonly weight: Float64Array
}

function bondsOf({ named, own, start, to, weight }: PartGraph): Bonds {
  const vertexAt = new Int32Array(named.length).fill(-1)
  for (const [v, place] of own.entries()) vertexAt[place] = v
  const first = new Int32Array(own.length + 1)
  const eachEdge = (visit: (v: number, u: number, e: number) => void) => {
    for (let v = 0; v < own.length; v++)
      for (let e = start[v]; e < start[v + 1]; e++) if (vertexAt[to[e]] >= 0) visit(v, vertexAt[to[e]], e)
  }
  eachEdge((v, u) => {
    first[v + 1]++
    first[u + 1]++
  })
  for (let v = 0; v < own.length; v++) first[v + 1] += first[v]
  const next = first.slice()
  const bonds = {
    start: first,
    to: new Int32Array(first[own.length]),
    weight: new Float64Array(first[own.length]),
  }
  const enter = (v: number, u: number, e: number) => {
    const at = next[v]++
    bonds.to[at] = u
    bonds.weight[at] = weight[e]
  }
  eachEdge((v, u, e) => {
    enter(v, u, e)
    enter(u, v, e)
  })
  return bonds
}

interface Growth {
  /** The cluster of every vertex; members are entered as they join. */
  readonly clusterOf: Int32Array
  readonly nodeOf: Int32Array
  readonly size: number
  readonly cluster: number
}

/** @param firstLeft the first vertex of the node without a cluster */
function growOne(bonds: Bonds, { clusterOf, nodeOf, size, cluster }: Growth, firstLeft: () => number): void {
  /** The bonds of every neighbor of the cluster, in the order in which they became neighbors. */
  const bound = new Map<number, number>()
  for (let members = 0; members < size; members++) {
    const v = bound.size === 0 ? firstLeft() : heaviest(bound)
    bound.delete(v)
    clusterOf[v] = cluster
    for (let e = bonds.start[v]; e < bonds.start[v + 1]; e++) {
      const u = bonds.to[e]
      if (clusterOf[u] < 0 && nodeOf[u] === nodeOf[v]) bound.set(u, (bound.get(u) ?? 0) + bonds.weight[e])
    }
  }
}

/** Returns the first of those that are bound most heavily. */
function heaviest(bound: ReadonlyMap<number, number>): number {
  let best = -1
  let most = Number.NEGATIVE_INFINITY
  for (const [v, weight] of bound)
    if (weight > most) {
      best = v
      most = weight
    }
  return best
}

function membersOf(clusterOf: Int32Array, clusters: number, size: number): Int32Array {
  const members = new Int32Array(clusters * size)
  const next = Int32Array.from({ length: clusters }, (_, cluster) => cluster * size)
  for (const [v, cluster] of clusterOf.entries()) if (cluster >= 0) members[next[cluster]++] = v
  return members
}

/** The edges of some clusters to clusters of the whole graph. */
export interface ClusterEdges {
  readonly sources: Int32Array
  readonly destinations: Int32Array
  /** The sum of the weights of the edges between their vertices. */
  readonly weights: Float64Array
}

/**
 * Returns the edges of the clusters of a part.
 *
 * @param clusterAt the cluster at every place of the graph, numbered over all parts; -1: in none
 * @param most destinations of a cluster that are retained: the heaviest, of equal ones any. Each cluster draws others,
 *   since those of lower numbers would be retained by all, and leave the rest of the graph without edges
 */
export function clusterEdges(
  { own, start, to, weight }: PartGraph,
  clusterAt: Int32Array,
  most: number,
): ClusterEdges {
  const rows = new Map<number, Map<number, number>>()
  for (let v = 0; v < own.length; v++) {
    const from = clusterAt[own[v]]
    if (from < 0) continue
    const row = getOrAdd(rows, from, () => new Map<number, number>())
    for (let e = start[v]; e < start[v + 1]; e++) {
      const cluster = clusterAt[to[e]]
      if (cluster >= 0 && cluster !== from) row.set(cluster, (row.get(cluster) ?? 0) + weight[e])
    }
  }
  const edges = [...rows]
    .sort(([a], [b]) => a - b)
    .flatMap(([from, row]) => {
      const next = mulberry32(from)
      return [...row]
        .sort(([a], [b]) => a - b)
        .map(([cluster, sum]) => ({ from, cluster, sum, draw: next() }))
        .sort((a, b) => b.sum - a.sum || a.draw - b.draw)
        .slice(0, most)
        .sort((a, b) => a.cluster - b.cluster)
    })
  return {
    sources: Int32Array.from(edges, ({ from }) => from),
    destinations: Int32Array.from(edges, ({ cluster }) => cluster),
    weights: Float64Array.from(edges, ({ sum }) => sum),
  }
}

/**
 * Returns the cluster whose place every cluster takes; null if that changes nothing. Clusters of one vertex are placed
 * by the objective; larger ones by weights times distances, since pairs of clusters are not those of their vertices.
 *
 * @param nodeOf the node of every cluster
 * @param size vertices of a cluster
 */
export function mapClusters(
  { sources, destinations, weights }: ClusterEdges,
  nodeOf: Int32Array,
  options: {
    readonly size: number
    readonly objective: MappingObjective
    readonly distance: NodeDistances['distance']
    readonly mostWork: number
  },
): Int32Array | null {
  const { size, distance, mostWork } = options
  const topology = topologyFromEdges(nodeOf.length, { sources, destinations, weights })
  const objective = size === 1 ? options.objective : 'hop-bytes'
  // Other processes wait for this one, which must not fail alone.
  if (!areAmounts(topology, objective)) return null
  const { slotOf } = mapTopology(topology, { nodeOfSlot: nodeOf, objective, distance, mostWork })
  return slotOf.every((slot, cluster) => slot === cluster) ? null : slotOf
}

/** The edges from some vertices of a larger graph, as the process that hosts them knows them. */
export interface PartGraph {
  /** The vertices of the part and their destinations, ascending. A place is an index into it. */
  readonly named: Int32Array
  /** The place of every vertex of the part. */
  readonly own: Int32Array
  /** The first entry of every vertex's destinations. Length: vertices of the part + 1. */
  readonly start: Int32Array
  /** The places of the distinct destinations of a vertex except itself, ascending. */
  readonly to: Int32Array
  /** The weight of each entry of `to`: the sum of the weights of its edges, or 1. */
  readonly weight: Float64Array
}

/** The edges that one vertex of a part sends along. */
interface PartRow {
  readonly destinations: ArrayLike<number>
  readonly destinationWeights?: ArrayLike<number>
}

/**
 * Builds the graph of a part of all vertices.
 *
 * @param vertices ascending
 * @param rows of each of them
 * @param addsWeights whether edges count by their weights, or 1 each without weights; else each distinct one counts
 *   once
 */
export function partGraph(vertices: Int32Array, rows: readonly PartRow[], addsWeights: boolean): PartGraph {
  const named = Int32Array.from(distinctRanks(vertices, rows)).sort()
  const start = new Int32Array(vertices.length + 1)
  const to: number[] = []
  const weight: number[] = []
  for (const [i, { destinations, destinationWeights }] of rows.entries()) {
    const amounts = new Map<number, number>()
    for (let e = 0; e < destinations.length; e++) {
      const u = destinations[e]
      if (u === vertices[i]) continue
      const before = amounts.get(u) ?? 0
      amounts.set(u, addsWeights ? before + (destinationWeights?.[e] ?? 1) : 1)
    }
    for (const [u, amount] of [...amounts].sort(([a], [b]) => a - b)) {
      to.push(indexIn(named, u))
      weight.push(amount)
    }
    start[i + 1] = to.length
  }
  return {
    ...{ named, start },
    own: vertices.map((vertex) => indexIn(named, vertex)),
    to: Int32Array.from(to),
    weight: Float64Array.from(weight),
  }
}

function distinctRanks(vertices: Int32Array, rows: readonly PartRow[]): Set<number> {
  const ranks = new Set<number>(vertices)
  for (const { destinations } of rows)
    for (let e = 0; e < destinations.length; e++) ranks.add(destinations[e])
  return ranks
}

/** Nodes of a machine, and how far apart they are. */
export interface NodeDistances {
  readonly nodes: number
  readonly distance: (nodeA: number, nodeB: number) => number
}

/**
 * Computes the cost of the vertices of a part. The sums over all parts make the cost of the whole: the only entry, or
 * the largest of several ({@link costOfParts}).
 *
 * @param nodeOf the node of every place
 * @returns for `busiest-node` pairs that leave node n at 2n and that enter it at 2n + 1, else one entry
 */
export function partCosts(
  { own, start, to, weight }: PartGraph,
  nodeOf: Int32Array,
  objective: MappingObjective,
  { nodes, distance }: NodeDistances,
): Float64Array {
  const costs = new Float64Array(objective === 'busiest-node' ? 2 * nodes : 1)
  const reached = new Set<number>()
  for (let v = 0; v < own.length; v++) {
    const node = nodeOf[own[v]]
    reached.clear()
    for (let e = start[v]; e < start[v + 1]; e++) {
      const other = nodeOf[to[e]]
      if (other === node) continue
      if (objective === 'edges') costs[0]++
      else if (objective === 'hop-bytes') costs[0] += weight[e] * distance(node, other)
      else reached.add(other)
    }
    if (objective === 'pairs') costs[0] += reached.size
    else
      for (const other of reached) {
        costs[2 * node]++
        costs[2 * other + 1]++
      }
  }
  return costs
}

/** Returns the cost of a whole graph. @param sums of {@link partCosts} over all parts */
export function costOfParts(sums: Float64Array): number {
  return sums.reduce((most, sum) => Math.max(most, sum), 0)
}
