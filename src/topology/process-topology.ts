/**
 * A directed multigraph over ranks 0 to `ranks - 1` with each rank's neighbors in MPI order, as compressed rows
 * (MPI-4.1 §8.5). Immutable.
 *
 * Rank r sends to `outRank[outStart[r] .. outStart[r+1]-1]` and receives from `inRank[inStart[r] .. inStart[r+1]-1]`,
 * in list order: block l of r's receive buffer holds the data of its l-th source. Self loops and parallel edges are
 * legal; a pair of ranks has the same multiplicity on both sides.
 */
export interface ProcessTopology {
  readonly ranks: number
  /** Length `ranks + 1`. */
  readonly outStart: Int32Array
  readonly outRank: Int32Array
  /** The weight of each out-edge, or null for an unweighted topology. */
  readonly outWeight: Float64Array | null
  /** Length `ranks + 1`. */
  readonly inStart: Int32Array
  readonly inRank: Int32Array
  /** The weight of each in-edge; null exactly when `outWeight` is. Each side has the weights it was given. */
  readonly inWeight: Float64Array | null
  /**
   * The rule by which parallel edges pair up. `occurrence`: the c-th occurrence of q among p's destinations is the c-th
   * occurrence of p among q's sources (distributed graphs, MPI-4.1 §8.6). `cartesian`: p's send slot s lands in q's
   * receive slot `s ^ 1` (MPI-4.1 §8.6, Cartesian communicators); slots are those of `cartNeighborSlots`, and the lists
   * hold the slots that have a neighbor.
   */
  readonly pairing: 'occurrence' | 'cartesian'
  /** The shape, set exactly for Cartesian topologies. */
  readonly cart: CartShape | null
}

/** A Cartesian grid; ranks are row-major, the last dimension fastest (MPI-4.1 §8.2). */
export interface CartShape {
  readonly dims: readonly number[]
  readonly periods: readonly boolean[]
}
