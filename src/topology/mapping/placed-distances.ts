import type { PlacedGraph } from './placed-graph.js'

/** The amounts that vertices exchange: an undirected graph without loops, every edge in the rows of both ends. */
export interface ExchangedAmounts {
  /** Length: vertices + 1. */
  readonly start: Int32Array
  readonly to: Int32Array
  /** The weight of each entry of `to`, the sum of both directions. */
  readonly weight: ArrayLike<number>
}

/**
 * Vertices on nodes, and the sum over edges of their weight times the distance of the nodes of both ends.
 *
 * A gain takes time proportional to the neighbors of a vertex.
 */
export class PlacedDistances implements PlacedGraph {
  readonly nodeOf: Int32Array
  readonly #amounts: ExchangedAmounts
  readonly #distance: (a: number, b: number) => number
  #cost = 0

  /**
   * @param distance of two nodes, symmetric, 0 of a node and itself
   * @param nodeOf the node of every vertex; changed by moves
   */
  constructor(amounts: ExchangedAmounts, distance: (a: number, b: number) => number, nodeOf: Int32Array) {
    this.nodeOf = nodeOf
    this.#amounts = amounts
    this.#distance = distance
    const { start, to, weight } = amounts
    for (let v = 0; v < nodeOf.length; v++)
      for (let e = start[v]; e < start[v + 1]; e++)
        if (to[e] > v) this.#cost += weight[e] * this.#distance(nodeOf[v], nodeOf[to[e]])
  }

  get cost(): number {
    return this.#cost
  }

  gain(v: number, node: number): number {
    const { nodeOf } = this
    const { start, to, weight } = this.#amounts
    const distance = this.#distance
    const from = nodeOf[v]
    let gain = 0
    for (let e = start[v]; e < start[v + 1]; e++) {
      const other = nodeOf[to[e]]
      gain += weight[e] * (distance(from, other) - distance(node, other))
    }
    return gain
  }

  visits(v: number): number {
    return 1 + this.#amounts.start[v + 1] - this.#amounts.start[v]
  }

  move(v: number, node: number): void {
    this.#cost -= this.gain(v, node)
    this.nodeOf[v] = node
  }
}

/** Returns the distance of two nodes where none are nearer than others (the discrete metric). */
export const uniformDistance = (nodeA: number, nodeB: number): number => (nodeA === nodeB ? 0 : 1)

const tabledNodes = 2048

/** Returns the same distances. For up to {@link tabledNodes} nodes it reads them from a table of all pairs. */
export function tabledDistance(
  distance: (a: number, b: number) => number,
  nodes: number,
): (a: number, b: number) => number {
  if (nodes > tabledNodes) return distance
  const table = new Float64Array(nodes * nodes)
  for (let a = 0; a < nodes; a++) for (let b = 0; b < nodes; b++) table[a * nodes + b] = distance(a, b)
  return (a, b) => table[a * nodes + b]
}
