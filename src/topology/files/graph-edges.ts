import { RankweaveError, shown } from '../../errors.js'
import { rowStarts } from '../compressed-rows.js'
import type { ProcessTopology } from '../process-topology.js'
import { topologyFromEdges, topologyFromLists } from '../topology-builders.js'

/** An edge of a graphology graph: `outSlot` and `inSlot` are its places in the lists of its ends, or null. */
export interface GraphEdge {
  readonly source: number
  readonly destination: number
  readonly weight: number | null
  readonly inWeight: number | null
  readonly outSlot: number | null
  readonly inSlot: number | null
}

export type Attributes = Readonly<Record<string, unknown>>

export function weightsOf(edge: string, attributes: Attributes, name: string | null) {
  const value = name === null ? undefined : attributes[name]
  if (value === undefined || value === null) return { weight: null, inWeight: null }
  if (typeof value !== 'number' || Number.isNaN(value)) {
    const message = `attribute '${name}' of edge '${edge}': expected a number, got ${shown(value)}`
    throw new RankweaveError('ERR_TOPOLOGY', message)
  }
  const { inWeight } = attributes
  return { weight: value, inWeight: typeof inWeight === 'number' ? inWeight : value }
}

export function slotsOf({ outSlot, inSlot }: Attributes) {
  return {
    outSlot: typeof outSlot === 'number' ? outSlot : null,
    inSlot: typeof inSlot === 'number' ? inSlot : null,
  }
}

/**
 * Builds a topology from the edges of a graph: weighted if all edges are, lists ordered by slots if all edges have
 * them.
 *
 * @throws ERR_TOPOLOGY when some edges have the weight attribute and others do not
 */
export function topologyFromGraphEdges(
  ranks: number,
  edges: readonly GraphEdge[],
  weightName: string | null,
): ProcessTopology {
  const weighted = edges.filter((edge) => edge.weight !== null).length
  if (weighted !== 0 && weighted !== edges.length) {
    const message = `expected the attribute '${weightName}' on every edge or on none, got it on ${weighted} of ${edges.length}`
    throw new RankweaveError('ERR_TOPOLOGY', message)
  }
  return edges.length > 0 && edges.every((edge) => edge.outSlot !== null && edge.inSlot !== null)
    ? fromSlots(ranks, edges, weighted > 0)
    : topologyFromEdges(ranks, {
        sources: edges.map((edge) => edge.source),
        destinations: edges.map((edge) => edge.destination),
        weights: weighted > 0 ? edges.map((edge) => edge.weight!) : null,
      })
}

/** Builds both sides ordered by slot; slots have gaps where edges were deleted from the graph. */
function fromSlots(ranks: number, edges: readonly GraphEdge[], weighted: boolean): ProcessTopology {
  const out = edges.toSorted((a, b) => a.source - b.source || a.outSlot! - b.outSlot!)
  const into = edges.toSorted((a, b) => a.destination - b.destination || a.inSlot! - b.inSlot!)
  return topologyFromLists({
    ranks,
    outStart: rowStarts(
      ranks,
      out.map((edge) => edge.source),
    ),
    outRank: out.map((edge) => edge.destination),
    outWeight: weighted ? out.map((edge) => edge.weight!) : null,
    inStart: rowStarts(
      ranks,
      into.map((edge) => edge.destination),
    ),
    inRank: into.map((edge) => edge.source),
    inWeight: weighted ? into.map((edge) => edge.inWeight!) : null,
  })
}
