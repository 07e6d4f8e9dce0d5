import { getOrAdd } from '../../base/maps.js'
import type { PartGraph } from './part-graph.js'

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
