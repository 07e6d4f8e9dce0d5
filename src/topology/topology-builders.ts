import { requireOptions } from '../base/known-options.js'
import { RankweaveError, shown, wrongValue } from '../errors.js'
import { type CompressedRows, rowStarts, transposeRows } from './compressed-rows.js'
import { checkTopologySize } from './limits.js'
import { checkTopology, type ProcessTopology } from './process-topology.js'

/** Edges as parallel flat arrays: edge e goes from `sources[e]` to `destinations[e]`. */
export interface EdgeArrays {
  readonly sources: ArrayLike<number>
  readonly destinations: ArrayLike<number>
  /** The weight of each edge; absent or null for an unweighted topology. */
  readonly weights?: ArrayLike<number> | null
}

/** Both sides of every rank, as compressed rows. Weights are given for both sides or for neither. */
export interface NeighborLists {
  readonly ranks: number
  readonly outStart: ArrayLike<number>
  readonly outRank: ArrayLike<number>
  readonly outWeight?: ArrayLike<number> | null
  readonly inStart: ArrayLike<number>
  readonly inRank: ArrayLike<number>
  readonly inWeight?: ArrayLike<number> | null
}

/**
 * Builds a topology from a list of edges. Every rank's destinations and its sources are in the order of the edges. So
 * the c-th edge from p to q is the c-th occurrence on both sides. Ownership: the arrays are copied.
 *
 * @throws ERR_TOPOLOGY naming the edge, when a rank is out of range, arrays differ in length, or the topology is too
 *   large
 * @see MPI-4.1 §8.5.4 (MPI_Dist_graph_create)
 */
export function topologyFromEdges(ranks: number, edges: EdgeArrays): ProcessTopology {
  if (typeof edges !== 'object' || edges === null || Array.isArray(edges) || ArrayBuffer.isView(edges))
    throw new RankweaveError(
      'ERR_ARGUMENT',
      `topologyFromEdges(ranks, edges): expected edges as { sources, destinations }, got ${Object(edges) === edges ? 'an array' : shown(edges)}`,
    )
  const { sources, destinations, weights = null } = edges
  for (const [name, list] of Object.entries({ sources, destinations })) requireList(name, list)
  if (weights !== null) requireList('weights', weights)
  const count = sources.length
  checkTopologySize('topology', ranks, count)
  if (destinations.length !== count || (weights !== null && weights.length !== count))
    throw new RankweaveError(
      'ERR_TOPOLOGY',
      `expected as many destinations${weights === null ? '' : ' and weights'} as the ${count} sources, ` +
        `got ${destinations.length}${weights === null ? '' : ` and ${weights.length}`}`,
    )
  for (let e = 0; e < count; e++) {
    if (!isRank(sources[e], ranks) || !isRank(destinations[e], ranks))
      throw new RankweaveError(
        'ERR_TOPOLOGY',
        `edge ${e} from ${shown(sources[e])} to ${shown(destinations[e])}: expected ranks 0 to ${ranks - 1}`,
        { details: { edge: e } },
      )
    if (weights !== null && Number.isNaN(Number(weights[e])))
      throw wrongValue('ERR_TOPOLOGY', `weight of edge ${e}: expected a number`, weights[e], { edge: e })
  }
  const out = groupEdges(ranks, sources, destinations, weights)
  const into = groupEdges(ranks, destinations, sources, weights)
  return {
    ranks,
    outStart: out.start,
    outRank: out.rank,
    outWeight: out.weight,
    inStart: into.start,
    inRank: into.rank,
    inWeight: into.weight,
    pairing: 'occurrence',
    cart: null,
  }
}

/**
 * Builds a topology from every rank's destinations and sources, whose order it keeps. Ownership: the arrays are copied.
 *
 * @throws ERR_TOPOLOGY naming the edge, when the two sides of an edge disagree
 * @see MPI-4.1 §8.5.4 (MPI_Dist_graph_create_adjacent)
 */
export function topologyFromLists(lists: NeighborLists): ProcessTopology {
  requireOptions('topologyFromLists', lists)
  const { outStart, outRank, inStart, inRank } = lists
  for (const [name, list] of Object.entries({ outStart, outRank, inStart, inRank })) requireList(name, list)
  checkTopologySize('topology', lists.ranks, outRank.length)
  const topology: ProcessTopology = {
    ranks: lists.ranks,
    outStart: integers('outStart', lists.outStart),
    outRank: integers('outRank', lists.outRank),
    outWeight: lists.outWeight == null ? null : Float64Array.from(lists.outWeight),
    inStart: integers('inStart', lists.inStart),
    inRank: integers('inRank', lists.inRank),
    inWeight: lists.inWeight == null ? null : Float64Array.from(lists.inWeight),
    pairing: 'occurrence',
    cart: null,
  }
  checkTopology(topology)
  return topology
}

/** Groups edges by one of their ends in compressed rows (a stable counting sort). */
function groupEdges(
  ranks: number,
  rowOf: ArrayLike<number>,
  other: ArrayLike<number>,
  weights: ArrayLike<number> | null,
): { start: Int32Array; rank: Int32Array; weight: Float64Array | null } {
  const count = rowOf.length
  const start = rowStarts(ranks, rowOf)
  const next = start.slice(0, ranks)
  const rank = new Int32Array(count)
  const weight = weights === null ? null : new Float64Array(count)
  for (let e = 0; e < count; e++) {
    const at = next[rowOf[e]]++
    rank[at] = other[e]
    if (weight !== null) weight[at] = weights![e]
  }
  return { start, rank, weight }
}

/** @throws ERR_TOPOLOGY unless it has a length, as arrays and typed arrays have */
function requireList(name: string, list: unknown): void {
  if (typeof list === 'object' && list !== null && Number.isInteger((list as ArrayLike<number>).length))
    return
  throw wrongValue('ERR_TOPOLOGY', `${name}: expected a list of numbers`, list)
}

/** Copies integers, and rejects those that would wrap or be truncated: a rank of 2^32 must not become rank 0. */
function integers(name: string, values: ArrayLike<number>): Int32Array {
  const copy = Int32Array.from(values)
  for (let i = 0; i < copy.length; i++)
    if (copy[i] !== values[i])
      throw wrongValue('ERR_TOPOLOGY', `${name}[${i}]: expected a 32-bit integer`, values[i])
  return copy
}

function isRank(value: number, ranks: number): boolean {
  return Number.isInteger(value) && value >= 0 && value < ranks
}

/**
 * Builds a topology without weights from every rank's destinations. Sources ascend unless `into` gives them. Ownership:
 * it takes the arrays over and does not copy them.
 */
export function unweightedTopology(
  out: CompressedRows,
  into: CompressedRows = transposeRows(out.start.length - 1, out),
): ProcessTopology {
  return {
    ranks: out.start.length - 1,
    outStart: out.start,
    outRank: out.rank,
    outWeight: null,
    inStart: into.start,
    inRank: into.rank,
    inWeight: null,
    pairing: 'occurrence',
    cart: null,
  }
}
