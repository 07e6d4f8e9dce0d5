import type { NeighborSets } from '../neighbors.js'
import { NodeCounts } from './node-counts.js'
import type { PlacedGraph } from './placed-graph.js'

/**
 * Vertices on nodes, and how many (source, destination node) pairs leave or enter the node that has most of either. The
 * sum over nodes breaks ties: it counts below 1.
 *
 * Memory: that of {@link NodeCounts}, and 12 bytes a pair of a node. A gain takes twice the time of a move, which is
 * proportional to the neighbors of a vertex.
 */
export class PlacedBusiest implements PlacedGraph {
  readonly nodeOf: Int32Array
  readonly #out: NeighborSets
  readonly #in: NeighborSets
  readonly #counts: NodeCounts
  /** The numbers of pairs that leave node n, at 2n, and that enter it, at 2n + 1. */
  readonly #load: Int32Array
  /** The number of nodes and directions that have so many pairs. */
  readonly #having: Int32Array
  #most = 0
  #pairs = 0

  constructor(destinations: NeighborSets, sources: NeighborSets, nodes: number, nodeOf: Int32Array) {
    this.nodeOf = nodeOf
    this.#out = destinations
    this.#in = sources
    this.#counts = new NodeCounts(destinations.start)
    this.#load = new Int32Array(2 * nodes)
    this.#having = new Int32Array(destinations.rank.length + 1)
    this.#having[0] = 2 * nodes
    for (let v = 0; v < nodeOf.length; v++)
      for (let e = destinations.start[v]; e < destinations.start[v + 1]; e++)
        this.#addTo(v, nodeOf[v], nodeOf[destinations.rank[e]])
  }

  /** The number of pairs that leave or enter the node that has most of either. */
  get busiest(): number {
    return this.#most
  }

  /** The number of pairs of all nodes. */
  get pairs(): number {
    return this.#pairs
  }

  get cost(): number {
    return this.#most + this.#pairs / (1 + this.#out.rank.length)
  }

  gain(v: number, node: number): number {
    const from = this.nodeOf[v]
    const before = this.cost
    this.move(v, node)
    const gain = before - this.cost
    this.move(v, from)
    return gain
  }

  /** Counts visits: a gain is a move there and back, and each visits sources and destinations twice. */
  visits(v: number): number {
    const [out, into] = [this.#out.start, this.#in.start]
    return 4 * (1 + out[v + 1] - out[v] + into[v + 1] - into[v])
  }

  move(v: number, node: number): void {
    const { nodeOf } = this
    const from = nodeOf[v]
    if (node === from) return
    const { start, rank } = this.#out
    for (let e = start[v]; e < start[v + 1]; e++) this.#removeFrom(v, from, nodeOf[rank[e]])
    nodeOf[v] = node
    for (let e = start[v]; e < start[v + 1]; e++) this.#addTo(v, node, nodeOf[rank[e]])
    for (let e = this.#in.start[v]; e < this.#in.start[v + 1]; e++) {
      const u = this.#in.rank[e]
      this.#removeFrom(u, nodeOf[u], from)
      this.#addTo(u, nodeOf[u], node)
    }
  }

  #addTo(u: number, own: number, node: number): void {
    if (this.#counts.count(u, node) === 0 && own !== node) this.#pair(own, node, 1)
    this.#counts.add(u, node)
  }

  #removeFrom(u: number, own: number, node: number): void {
    this.#counts.remove(u, node)
    if (this.#counts.count(u, node) === 0 && own !== node) this.#pair(own, node, -1)
  }

  #pair(from: number, to: number, change: number): void {
    this.#pairs += change
    this.#change(2 * from, change)
    this.#change(2 * to + 1, change)
  }

  #change(at: number, change: number): void {
    const load = this.#load[at]
    this.#having[load]--
    this.#load[at] = load + change
    this.#having[load + change]++
    if (load + change > this.#most) this.#most = load + change
    else while (this.#having[this.#most] === 0) this.#most--
  }
}
