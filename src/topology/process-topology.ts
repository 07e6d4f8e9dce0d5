import { RankweaveError } from '../errors.js'
import { checkTopology } from './check-topology.js'
import { startsOf } from './compressed-rows.js'
import { checkTopologySize } from './limits.js'

/**
 * Who sends to whom: a directed multigraph over ranks 0 to `ranks - 1`, each rank's neighbors in MPI order, as
 * compressed rows (MPI-4.1 §8.5). Immutable.
 *
 * Rank r sends to `outRank[outStart[r] .. outStart[r+1]-1]` and receives from `inRank[inStart[r] .. inStart[r+1]-1]`,
 * in list order: block l of r's receive buffer is for the l-th of its sources. Self loops and parallel edges are
 * legal; a pair of ranks has the same multiplicity on both sides.
 */
export interface ProcessTopology {
  readonly ranks: number
  /** Length `ranks + 1`. */
  readonly outStart: Int32Array
  readonly outRank: Int32Array
  /** One weight per out-edge, or null for an unweighted topology. */
  readonly outWeight: Float64Array | null
  /** Length `ranks + 1`. */
  readonly inStart: Int32Array
  readonly inRank: Int32Array
  /** One weight per in-edge; null exactly when `outWeight` is. Each side keeps what it was given. */
  readonly inWeight: Float64Array | null
  /**
   * How parallel edges pair up. `occurrence`: the c-th occurrence of q among p's destinations is the c-th
   * occurrence of p among q's sources (distributed graphs, MPI-4.1 §8.6). `cartesian`: p's send slot s lands in
   * q's receive slot `s ^ 1` (MPI-4.1 §8.6, Cartesian communicators); slots are those of `cartNeighborSlots`, of
   * which the lists hold the ones that have a neighbor.
   */
  readonly pairing: 'occurrence' | 'cartesian'
  /** Set exactly for Cartesian topologies. */
  readonly cart: CartShape | null
}

/** A Cartesian grid; ranks are row-major, the last dimension fastest (MPI-4.1 §8.2). */
export interface CartShape {
  readonly dims: readonly number[]
  readonly periods: readonly boolean[]
}

/** Edges as parallel flat arrays: edge e goes from `sources[e]` to `destinations[e]`. */
export interface EdgeArrays {
  readonly sources: ArrayLike<number>
  readonly destinations: ArrayLike<number>
  /** One per edge; absent or null for an unweighted topology. */
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
 * A topology from a list of edges. Every rank's destinations and its sources are in the order of the edges, so the
 * c-th edge from p to q is the c-th occurrence on both sides.
 * Ownership: the arrays are copied.
 *
 * @throws ERR_TOPOLOGY naming the edge, when a rank is out of range, arrays differ in length, or sizes are absurd
 * @see MPI-4.1 §8.5.4 (MPI_Dist_graph_create)
 */
export function topologyFromEdges(ranks: number, edges: EdgeArrays): ProcessTopology {
  const { sources, destinations, weights = null } = edges
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
        `edge ${e} from ${sources[e]} to ${destinations[e]}: expected ranks 0 to ${ranks - 1}`,
        { details: { edge: e } },
      )
    if (weights !== null && Number.isNaN(Number(weights[e])))
      throw new RankweaveError('ERR_TOPOLOGY', `weight of edge ${e}: expected a number, got ${weights[e]}`, {
        details: { edge: e },
      })
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
 * A topology from every rank's ordered destinations and sources, kept as they are.
 * Ownership: the arrays are copied.
 *
 * @throws ERR_TOPOLOGY naming the edge, when the two sides of an edge disagree
 * @see MPI-4.1 §8.5.4 (MPI_Dist_graph_create_adjacent)
 */
export function topologyFromLists(lists: NeighborLists): ProcessTopology {
  checkTopologySize('topology', lists.ranks, lists.outRank.length)
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

/** Compressed rows of edges by one of their ends, stable: a counting sort. */
function groupEdges(
  ranks: number,
  rowOf: ArrayLike<number>,
  other: ArrayLike<number>,
  weights: ArrayLike<number> | null,
): { start: Int32Array; rank: Int32Array; weight: Float64Array | null } {
  const count = rowOf.length
  const start = startsOf(ranks, rowOf)
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

/** A copy that cannot wrap or truncate: a rank of 2^32 must not become rank 0. */
function integers(name: string, values: ArrayLike<number>): Int32Array {
  const copy = Int32Array.from(values)
  for (let i = 0; i < copy.length; i++)
    if (copy[i] !== values[i])
      throw new RankweaveError('ERR_TOPOLOGY', `${name}[${i}]: expected a 32-bit integer, got ${values[i]}`)
  return copy
}

function isRank(value: number, ranks: number): boolean {
  return Number.isInteger(value) && value >= 0 && value < ranks
}
