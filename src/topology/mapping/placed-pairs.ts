import type { NeighborSets } from '../neighbors.js'
import type { PlacedGraph } from './placed-graph.js'

/**
 * Vertices on nodes, and for every vertex how many of its destinations are on each node: so the change of
 * (source, destination node) pairs by a move is known from the neighbors of a vertex alone.
 *
 * Memory: 16 bytes an edge and 16 a vertex. A gain takes time proportional to the sources of a vertex times the nodes of
 * their destinations; a move the same.
 */
export class PlacedPairs implements PlacedGraph {
  readonly nodeOf: Int32Array
  readonly out: NeighborSets
  readonly in: NeighborSets
  /** Of vertex v from `out.start[v]`: the nodes of its destinations, each once, `#nodes[v]` of them. */
  readonly #node: Int32Array
  /** How many of its destinations are there. */
  readonly #count: Int32Array
  readonly #nodes: Int32Array
  #pairs = 0

  /**
   * @param destinations of every vertex, ascending without repetition and without itself
   * @param sources the same edges reversed
   * @param nodeOf the node of every vertex; changed by moves
   */
  constructor(destinations: NeighborSets, sources: NeighborSets, nodeOf: Int32Array) {
    this.out = destinations
    this.in = sources
    this.nodeOf = nodeOf
    this.#node = new Int32Array(destinations.rank.length)
    this.#count = new Int32Array(destinations.rank.length)
    this.#nodes = new Int32Array(nodeOf.length)
    const { start, rank } = destinations
    for (let v = 0; v < nodeOf.length; v++) {
      for (let e = start[v]; e < start[v + 1]; e++) this.#add(v, nodeOf[rank[e]])
      this.#pairs += this.#nodes[v] - (this.#find(v, nodeOf[v]) < 0 ? 0 : 1)
    }
  }

  /** Distinct (source vertex, node of a destination), where that is another node. */
  get cost(): number {
    return this.#pairs
  }

  /** How many pairs fewer there are once a vertex is on another node. */
  gain(v: number, to: number): number {
    const { nodeOf } = this
    const from = nodeOf[v]
    let gain = (this.#find(v, to) < 0 ? 0 : 1) - (this.#find(v, from) < 0 ? 0 : 1)
    const { start, rank } = this.in
    for (let e = start[v]; e < start[v + 1]; e++) {
      const u = rank[e]
      const own = nodeOf[u]
      if (own !== from && this.#count[this.#find(u, from)] === 1) gain++
      if (own !== to && this.#find(u, to) < 0) gain--
    }
    return gain
  }

  /** Moves a vertex. Its node's capacity is the caller's to respect. */
  move(v: number, to: number): void {
    this.#pairs -= this.gain(v, to)
    const from = this.nodeOf[v]
    this.nodeOf[v] = to
    const { start, rank } = this.in
    for (let e = start[v]; e < start[v + 1]; e++) {
      this.#remove(rank[e], from)
      this.#add(rank[e], to)
    }
  }

  #find(v: number, node: number): number {
    const first = this.out.start[v]
    const end = first + this.#nodes[v]
    for (let at = first; at < end; at++) if (this.#node[at] === node) return at
    return -1
  }

  #add(v: number, node: number): void {
    const at = this.#find(v, node)
    if (at >= 0) {
      this.#count[at]++
      return
    }
    const end = this.out.start[v] + this.#nodes[v]++
    this.#node[end] = node
    this.#count[end] = 1
  }

  #remove(v: number, node: number): void {
    const at = this.#find(v, node)
    if (--this.#count[at] > 0) return
    const last = this.out.start[v] + --this.#nodes[v]
    this.#node[at] = this.#node[last]
    this.#count[at] = this.#count[last]
  }
}
