import { MultiDirectedGraph } from 'graphology'
import type { AbstractGraph } from 'graphology-types'
import { RankweaveError } from '../errors.js'
import { startsOf } from './compressed-rows.js'
import { checkTopologySize } from './limits.js'
import { pairEdges } from './neighbors.js'
import { type ProcessTopology, topologyFromEdges, topologyFromLists } from './process-topology.js'

/** Edge attributes that {@link topologyToGraph} writes and {@link topologyFromGraph} reads. */
export interface TopologyEdgeAttributes {
  /** Place of the edge among the destinations of its source. */
  outSlot: number
  /** Place of the edge among the sources of its destination. */
  inSlot: number
  /** Absent in an unweighted topology. */
  weight?: number
  /** What the receiving side gives as weight, where it differs. */
  inWeight?: number
  [attribute: string]: unknown
}

export interface GraphOptions {
  /** Name of the edge attribute that holds weights; null to ignore weights. Default `weight`. */
  readonly weight?: string | null
}

/**
 * A topology from any graphology graph: directed, undirected, mixed, multi. Nodes become ranks in the graph's order. An
 * undirected edge is an edge each way, from its first to its second node first; an undirected self loop is one edge.
 * Lists are in the order of the graph's edges, or, when every edge has them, of the attributes `outSlot` and `inSlot`.
 * Weighted when every edge has the weight attribute, unweighted when none has.
 *
 * @throws ERR_TOPOLOGY for a graph without nodes, or weights that are not numbers or are missing on some edges
 */
export function topologyFromGraph(graph: AbstractGraph, options: GraphOptions = {}): ProcessTopology {
  const { weight = 'weight' } = options
  checkTopologySize('graph', graph.order, graph.size)
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
  const weighted = edges.filter((edge) => edge.weight !== null).length
  if (weighted !== 0 && weighted !== edges.length)
    throw new RankweaveError(
      'ERR_TOPOLOGY',
      `expected the attribute '${weight}' on every edge or on none, got it on ${weighted} of ${edges.length}`,
    )
  return edges.length > 0 && edges.every((edge) => edge.outSlot !== null && edge.inSlot !== null)
    ? fromSlots(graph.order, edges, weighted > 0)
    : topologyFromEdges(graph.order, {
        sources: edges.map((edge) => edge.source),
        destinations: edges.map((edge) => edge.destination),
        weights: weighted > 0 ? edges.map((edge) => edge.weight!) : null,
      })
}

/**
 * The topology as a directed multigraph. Nodes are the ranks as strings, in order; edges carry
 * {@link TopologyEdgeAttributes}, so that {@link topologyFromGraph} rebuilds the same lists. Not kept are a Cartesian
 * shape, and that a topology without edges is weighted.
 */
export function topologyToGraph(
  topology: ProcessTopology,
): MultiDirectedGraph<Record<string, never>, TopologyEdgeAttributes> {
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

interface GraphEdge {
  readonly source: number
  readonly destination: number
  readonly weight: number | null
  readonly inWeight: number | null
  readonly outSlot: number | null
  readonly inSlot: number | null
}

type Attributes = Readonly<Record<string, unknown>>

function weightsOf(edge: string, attributes: Attributes, name: string | null) {
  const value = name === null ? undefined : attributes[name]
  if (value === undefined || value === null) return { weight: null, inWeight: null }
  if (typeof value !== 'number' || Number.isNaN(value))
    throw new RankweaveError(
      'ERR_TOPOLOGY',
      `attribute '${name}' of edge '${edge}': expected a number, got ${String(value)}`,
    )
  const { inWeight } = attributes
  return { weight: value, inWeight: typeof inWeight === 'number' ? inWeight : value }
}

function slotsOf({ outSlot, inSlot }: Attributes) {
  return {
    outSlot: typeof outSlot === 'number' ? outSlot : null,
    inSlot: typeof inSlot === 'number' ? inSlot : null,
  }
}

/** Both sides ordered by slot; slots may have gaps, where edges were deleted from the graph. */
function fromSlots(ranks: number, edges: readonly GraphEdge[], weighted: boolean): ProcessTopology {
  const out = edges.toSorted((a, b) => a.source - b.source || a.outSlot! - b.outSlot!)
  const into = edges.toSorted((a, b) => a.destination - b.destination || a.inSlot! - b.inSlot!)
  return topologyFromLists({
    ranks,
    outStart: startsOf(
      ranks,
      out.map((edge) => edge.source),
    ),
    outRank: out.map((edge) => edge.destination),
    outWeight: weighted ? out.map((edge) => edge.weight!) : null,
    inStart: startsOf(
      ranks,
      into.map((edge) => edge.destination),
    ),
    inRank: into.map((edge) => edge.source),
    inWeight: weighted ? into.map((edge) => edge.inWeight!) : null,
  })
}
