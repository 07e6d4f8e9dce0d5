import type { NeighborSets } from '../neighbors.js'
import type { PlacedGraph } from './placed-graph.js'

/** A topology to be placed on nodes, as an objective sees it. */
export interface Problem {
  /** The neighbors of each vertex that may gain by sharing its node. */
  readonly neighbors: readonly NeighborSets[]
  /** The temperature at the start of the search, see {@link improveBySwaps}. */
  readonly temperature: number
  place(nodeOf: Int32Array): PlacedGraph
  /** Returns the node of every vertex, by recursive bisection. */
  bisected(next: () => number): Int32Array
  /**
   * Returns some mappings by bisection of nodes and vertices, for objectives with distances; none if all distances are
   * equal.
   */
  dual?(count: number, next: () => number): readonly Int32Array[]
  /** Exchanges the whole contents of nodes, for objectives that know near nodes from far ones. */
  arranged?(nodeOf: Int32Array, search: { readonly work: number; readonly next: () => number }): Int32Array
  /** Returns the same problem in which vertex i is `order[i]` of this one. */
  renumbered(order: Int32Array): Problem
}

/** The input of a problem besides the topology. */
export interface PlacingFacts {
  /** The number of slots of every node. */
  readonly capacities: Int32Array
  /** The distance of two nodes: symmetric, and 0 from a node to itself. */
  readonly distance: (nodeA: number, nodeB: number) => number
  /** The visits of neighbors that all searches together may spend. */
  readonly work: number
}
