/**
 * A process topology whose vertices are on nodes, and its cost by one objective. Only moves change the nodes of
 * vertices, and the cost with them.
 */
export interface PlacedGraph {
  /** The node of every vertex. A view: moves change it. */
  readonly nodeOf: Int32Array
  /** The cost by the objective; less is better. */
  readonly cost: number
  /** Returns the amount by which the cost falls once a vertex is on another node and all others stay. */
  gain(vertex: number, node: number): number
  /** Returns the number of neighbors that a gain of a vertex, or a move, visits: its cost. */
  visits(vertex: number): number
  /** Moves a vertex to another node. The caller respects that node's capacity. */
  move(vertex: number, node: number): void
}
