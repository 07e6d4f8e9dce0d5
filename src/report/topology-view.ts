import { requireOptions } from '../base/known-options.js'
import { wrongValue } from '../errors.js'
import { distinctOut } from '../topology/neighbors.js'
import { type ProcessTopology, requireTopology } from '../topology/process-topology.js'
import { type TopologyStatistics, topologyStatistics } from '../topology/topology-statistics.js'
import { type AdjacencyView, adjacencyView } from './adjacency.js'
import { type GraphView, graphView } from './graph-view.js'
import { type Histogram, histograms } from './histogram.js'
import { type NeighborhoodView, neighborhoodView } from './neighborhood-view.js'

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

export interface TopologyViewOptions {
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
