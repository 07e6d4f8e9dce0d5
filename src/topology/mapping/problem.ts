import type { NeighborSets } from '../neighbors.js'
import type { PlacedGraph } from './placed-graph.js'

/** A topology to be placed on nodes, as an objective sees it. */
export interface Problem {
  /** Who may gain by being together. */
  readonly neighbors: readonly NeighborSets[]
  /** Of the search at its start, see {@link improveBySwaps}. */
  readonly temperature: number
  place(nodeOf: Int32Array): PlacedGraph
  /** The node of every vertex, by recursive bisection. */
  bisected(next: () => number): Int32Array
  /** Some mappings by bisection of nodes and vertices, where the objective has distances; none where all are equal. */
  dual?(count: number, next: () => number): readonly Int32Array[]
  /** A mapping in which nodes have exchanged all that is on them, where the objective knows near nodes from far ones. */
  arranged?(nodeOf: Int32Array, search: { readonly work: number; readonly next: () => number }): Int32Array
  /** The same problem in which vertex i is `order[i]` of this one. */
  renumbered(order: Int32Array): Problem
}

/** What a problem is made of beside the topology. */
export interface PlacingFacts {
  /** Slots of every node. */
  readonly capacities: Int32Array
  /** Of two nodes; symmetric, 0 of a node and itself. */
  readonly distance: (nodeA: number, nodeB: number) => number
  /** Visits of neighbors that all searches together may spend. */
  readonly work: number
}
