import { getOrAdd } from '../../base/maps.js'
import { mulberry32 } from '../../base/random.js'
import { topologyFromEdges } from '../topology-builders.js'
import { areAmounts } from './exchanged-amounts.js'
import { mapTopology } from './map-topology.js'
import type { MappingObjective } from './objectives.js'
import type { NodeDistances, PartGraph } from './part-graph.js'

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
