import { wrongValue } from '../../errors.js'
import { topologyLimits } from '../limits.js'
import type { NeighborSets } from '../neighbors.js'

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

/**
 * Vertices on nodes, and for every vertex how many of its destinations are on each node: so the change of
 * (source, destination node) pairs by a move is known from the neighbors of a vertex alone.
 *
 * Memory: 24 to 40 bytes an edge. A gain, and a move, takes time proportional to the sources of a vertex.
 */
export class PlacedPairs implements PlacedGraph {
  readonly nodeOf: Int32Array
  readonly out: NeighborSets
  readonly in: NeighborSets
  readonly #counts: NodeCounts
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
    this.#counts = new NodeCounts(destinations.start)
    const { start, rank } = destinations
    for (let v = 0; v < nodeOf.length; v++) {
      for (let e = start[v]; e < start[v + 1]; e++) this.#counts.add(v, nodeOf[rank[e]])
      this.#pairs += this.#counts.nodes(v) - Math.min(1, this.#counts.count(v, nodeOf[v]))
    }
  }

  /** The number of distinct pairs (source vertex, node of a destination) in which that is another node. */
  get cost(): number {
    return this.#pairs
  }

  /** Returns the number of pairs that a move of a vertex to another node saves. */
  gain(v: number, to: number): number {
    const { nodeOf } = this
    const counts = this.#counts
    const from = nodeOf[v]
    if (to === from) return 0
    let gain = (counts.count(v, to) === 0 ? 0 : 1) - (counts.count(v, from) === 0 ? 0 : 1)
    const { start, rank } = this.in
    for (let e = start[v]; e < start[v + 1]; e++) {
      const u = rank[e]
      const own = nodeOf[u]
      if (own !== from && counts.count(u, from) === 1) gain++
      if (own !== to && counts.count(u, to) === 0) gain--
    }
    return gain
  }

  visits(v: number): number {
    return 1 + this.in.start[v + 1] - this.in.start[v]
  }

  /** Moves a vertex. The caller respects its node's capacity. */
  move(v: number, to: number): void {
    this.#pairs -= this.gain(v, to)
    const from = this.nodeOf[v]
    this.nodeOf[v] = to
    const { start, rank } = this.in
    for (let e = start[v]; e < start[v + 1]; e++) {
      this.#counts.remove(rank[e], from)
      this.#counts.add(rank[e], to)
    }
  }
}

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

/**
 * Counts for every vertex how many of its destinations are on each node. Each vertex has a small hash table for at most
 * as many nodes as it has destinations. Nodes without a destination take no place.
 *
 * Memory: 16 to 32 bytes a destination; tables are at most half full.
 */
class NodeCounts {
  /** The first place of every vertex's table. Length: vertices + 1; sizes are powers of two. */
  readonly #start: Int32Array
  /** The node plus 1; 0 marks a free place. */
  readonly #node: Int32Array
  readonly #count: Int32Array
  /** The number of places in use of every vertex. */
  readonly #nodes: Int32Array

  /** @param start of the destinations of every vertex, as in compressed rows */
  constructor(start: Int32Array) {
    const vertices = start.length - 1
    this.#start = new Int32Array(vertices + 1)
    for (let v = 0; v < vertices; v++) this.#start[v + 1] = this.#start[v] + places(start[v + 1] - start[v])
    this.#node = new Int32Array(this.#start[vertices])
    this.#count = new Int32Array(this.#start[vertices])
    this.#nodes = new Int32Array(vertices)
  }

  /** Returns the number of nodes on which a vertex has destinations. */
  nodes(v: number): number {
    return this.#nodes[v]
  }

  /** Returns the number of destinations that a vertex has on a node. */
  count(v: number, node: number): number {
    const at = this.#find(v, node)
    return this.#node[at] === 0 ? 0 : this.#count[at]
  }

  add(v: number, node: number): void {
    const at = this.#find(v, node)
    if (this.#node[at] === 0) {
      this.#node[at] = node + 1
      this.#count[at] = 0
      this.#nodes[v]++
    }
    this.#count[at]++
  }

  /** Removes one destination, which must exist. */
  remove(v: number, node: number): void {
    const at = this.#find(v, node)
    if (--this.#count[at] === 0) {
      this.#nodes[v]--
      this.#free(v, at)
    }
  }

  /** Returns the place of a node, or the free one where it would be. */
  #find(v: number, node: number): number {
    const first = this.#start[v]
    const mask = this.#start[v + 1] - first - 1
    let at = hash(node) & mask
    while (this.#node[first + at] !== node + 1 && this.#node[first + at] !== 0) at = (at + 1) & mask
    return first + at
  }

  /** Frees a place, and moves back those that were displaced by it. */
  #free(v: number, place: number): void {
    const first = this.#start[v]
    const mask = this.#start[v + 1] - first - 1
    let hole = place - first
    for (let at = (hole + 1) & mask; this.#node[first + at] !== 0; at = (at + 1) & mask) {
      const home = hash(this.#node[first + at] - 1) & mask
      // The entry stays if its home lies behind the hole.
      if (((at - home) & mask) < ((at - hole) & mask)) continue
      this.#node[first + hole] = this.#node[first + at]
      this.#count[first + hole] = this.#count[first + at]
      hole = at
    }
    this.#node[first + hole] = 0
  }
}

function hash(node: number): number {
  const mixed = Math.imul(node, 0x9e3779b1)
  return mixed ^ (mixed >>> 15)
}

/** Returns at least twice as many places as destinations, so that a probe ends at a free place. */
function places(destinations: number): number {
  return destinations === 0 ? 1 : 2 << (31 - Math.clz32(2 * destinations - 1))
}

/**
 * Copies and checks a list of nodes.
 *
 * @param what the list, for messages
 * @throws ERR_MACHINE unless it has `length` integers from 0
 */
export function nodeList(what: string, given: ArrayLike<number>, length: number): Int32Array {
  const entries = (Object(given) as ArrayLike<number>).length
  if (entries !== length) throw wrongValue('ERR_MACHINE', `${what}: expected ${length} nodes`, entries)
  for (let i = 0; i < length; i++)
    if (!Number.isInteger(given[i]) || given[i] < 0 || given[i] >= topologyLimits.ranks)
      throw wrongValue('ERR_MACHINE', `${what}, entry ${i}: expected a node, an integer from 0`, given[i])
  return Int32Array.from(given)
}
