/**
 * A process topology whose vertices are on nodes, and what that costs by one objective. The nodes of vertices change by
 * moves only, and the cost with them.
 */
export interface PlacedGraph {
  /** The node of every vertex. A view: moves change it. */
  readonly nodeOf: Int32Array
  /** By the objective; less is better. */
  readonly cost: number
  /** By how much the cost falls once a vertex is on another node, all others staying. */
  gain(vertex: number, node: number): number
  /** How many neighbors a gain of a vertex, and a move, visits: what it costs. */
  visits(vertex: number): number
  /** Moves a vertex to another node. That node's capacity is for the caller to respect. */
  move(vertex: number, node: number): void
}
