/**
 * The network between the nodes of a machine as one-way links, numbered: link `2 n` leads from node n into the network and
 * link `2 n + 1` from the network to node n (its network interface, shared by all its ranks); links between switches or
 * from router to router come after them.
 */
export interface Network {
  readonly nodes: number
  /** Per link. Length: links. */
  readonly latencyNs: Float64Array
  /** Per link: the inverse of its bandwidth. Length: links. */
  readonly nsPerByte: Float64Array
  /** No route has more links. */
  readonly longestRoute: number
  /**
   * Writes the links from one node to another into `into` (at least `longestRoute` long), in order, and returns their number.
   * Deterministic; the nodes differ.
   */
  route(fromNode: number, toNode: number, into: Int32Array): number
}
