import { MultiDirectedGraph } from 'graphology'
import type { AbstractGraph } from 'graphology-types'
import { requireKnownOptions } from '../../base/known-options.js'
import { type OptionTable, uncheckedOptions } from '../../base/option.js'
import { isRankweaveError, RankweaveError, reasonText, wrongValue } from '../../errors.js'
import { checkTopologySize } from '../limits.js'
import { pairEdges } from '../neighbors.js'
import { type ProcessTopology, requireTopology } from '../process-topology.js'
import { type GraphEdge, slotsOf, topologyFromGraphEdges, weightsOf } from './graphology-json.js'

/** Edge attributes that {@link topologyToGraph} writes and {@link topologyFromGraph} reads. */
export interface TopologyEdgeAttributes {
  /** The index of the edge among the destinations of its source. */
  outSlot: number
  /** The index of the edge among the sources of its destination. */
  inSlot: number
  /** The weight; absent in an unweighted topology. */
  weight?: number
  /** The receiving side's weight, if it differs. */
  inWeight?: number
  [attribute: string]: unknown
}

export interface GraphOptions {
  /** The name of the edge attribute that holds weights; null to ignore weights. Default `weight`. */
  readonly weight?: string | null
}

const knownOptions: OptionTable<GraphOptions> = uncheckedOptions('weight')

/**
 * Builds a topology from any graphology graph: directed, undirected, mixed, multi. Nodes become ranks in the graph's
 * order. An undirected edge is an edge each way, from its first to its second node first; an undirected self loop is
 * one edge. Lists are in the order of the graph's edges, or, when every edge has them, of the attributes `outSlot` and
 * `inSlot`. Weighted when every edge has the weight attribute, unweighted when none has.
 *
 * @throws ERR_TOPOLOGY for a graph without nodes, or weights that are not numbers or are missing on some edges
 */
export function topologyFromGraph(graph: AbstractGraph, options: GraphOptions = {}): ProcessTopology {
  requireKnownOptions('topologyFromGraph', options, knownOptions)
  if (typeof Object(graph).forEachEdge !== 'function')
    throw wrongValue('ERR_TOPOLOGY', 'expected a graph of graphology', graph)
  const { weight = 'weight' } = options
  checkTopologySize('graph', graph.order, graph.size)
  return topologyFromGraphEdges(graph.order, edgesOf(graph, weight), weight)
}

/** @throws ERR_TOPOLOGY also where reading the graph throws: attributes may be getters */
function edgesOf(graph: AbstractGraph, weight: string | null): readonly GraphEdge[] {
  try {
    return readEdges(graph, weight)
  } catch (cause) {
    if (isRankweaveError(cause)) throw cause
    const message = `graph: expected nodes, edges and attributes that can be read, got ${reasonText(cause)}`
    throw new RankweaveError('ERR_TOPOLOGY', message, { cause })
  }
}

function readEdges(graph: AbstractGraph, weight: string | null): readonly GraphEdge[] {
  const rankOf = new Map(graph.nodes().map((node, rank) => [node, rank]))
  const edges: GraphEdge[] = []
  graph.forEachEdge((edge, attributes, source, target, _source, _target, undirected) => {
    const forth = {
      source: rankOf.get(source)!,
      destination: rankOf.get(target)!,
      ...weightsOf(edge, attributes, weight),
      ...slotsOf(undirected ? {} : attributes),
    }
    edges.push(forth)
    if (undirected && source !== target)
      edges.push({ ...forth, source: forth.destination, destination: forth.source })
  })
  return edges
}

/**
 * Converts the topology to a directed multigraph. Nodes are the ranks as strings, in order; edges carry {@link
 * TopologyEdgeAttributes}, so that {@link topologyFromGraph} rebuilds the same lists. A Cartesian shape is lost, and so
 * are the weights of a topology without edges.
 */
export function topologyToGraph(
  topology: ProcessTopology,
): MultiDirectedGraph<Record<string, never>, TopologyEdgeAttributes> {
  requireTopology(topology)
  const { ranks, outStart, outRank, outWeight, inStart, inWeight } = topology
  const graph = new MultiDirectedGraph<Record<string, never>, TopologyEdgeAttributes>()
  for (let rank = 0; rank < ranks; rank++) graph.addNode(String(rank))
  const arrival = pairEdges(topology)
  for (let p = 0; p < ranks; p++)
    for (let e = outStart[p]; e < outStart[p + 1]; e++) {
      const q = outRank[e]
      const attributes: TopologyEdgeAttributes = {
        outSlot: e - outStart[p],
        inSlot: arrival[e] - inStart[q],
      }
      if (outWeight !== null) attributes.weight = outWeight[e]
      if (inWeight !== null && !Object.is(inWeight[arrival[e]], outWeight?.[e]))
        attributes.inWeight = inWeight[arrival[e]]
      graph.addDirectedEdge(String(p), String(q), attributes)
    }
  return graph
}
