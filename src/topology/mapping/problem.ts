import { below } from '../../base/random.js'
import { entriesByRow, rowStarts } from '../compressed-rows.js'
import type { NeighborSets } from '../neighbors.js'
import type { PlacedGraph } from './placed-graph.js'

/**
 * The objectives that a mapping minimizes:
 * - `pairs`: distinct (source rank, destination node) on different nodes: messages between nodes if the data for one
 *   node are sent once;
 * - `edges`: distinct edges between nodes: messages of direct sends;
 * - `hop-bytes`: the weights of edges times the distance of the nodes of both ends (Hoefler and Snir 2011, dilation);
 * - `busiest-node`: pairs that leave or enter the node that has most.
 */
export const mappingObjectives = ['pairs', 'edges', 'hop-bytes', 'busiest-node'] as const
export type MappingObjective = (typeof mappingObjectives)[number]

/** The time of a strategy on a machine with a profile. The room that knows strategies computes it. */
export const simulatedTime = 'simulated-time'
/** The objectives for which mappings in files are made. */
export type PlacementObjective = MappingObjective | typeof simulatedTime

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

/** A graph of several, and how often it is exchanged. */
interface TimedProblem {
  readonly problem: Problem
  readonly times: number
}

/**
 * Makes the problem of several graphs on the same ranks. Their costs add up, each multiplied by the number of times
 * that its graph is exchanged.
 *
 * @param joined of all their edges; it knows neighbors, and makes mappings to begin with
 */
export function summedProblem(parts: readonly TimedProblem[], joined: Problem): Problem {
  const temperatures = parts.reduce((sum, { problem, times }) => sum + times * problem.temperature, 0)
  return {
    ...joined,
    temperature: temperatures / parts.length,
    place: (nodeOf) =>
      new PlacedSum(parts.map(({ problem, times }) => ({ placed: problem.place(nodeOf.slice()), times }))),
    renumbered: (order) =>
      summedProblem(
        parts.map(({ problem, times }) => ({ problem: problem.renumbered(order), times })),
        joined.renumbered(order),
      ),
  }
}

interface TimedGraph {
  readonly placed: PlacedGraph
  readonly times: number
}

class PlacedSum implements PlacedGraph {
  readonly nodeOf: Int32Array
  readonly #parts: readonly TimedGraph[]

  /** @param parts one or more, all on the same nodes */
  constructor(parts: readonly TimedGraph[]) {
    this.#parts = parts
    this.nodeOf = parts[0].placed.nodeOf
  }

  get cost(): number {
    let cost = 0
    for (const { placed, times } of this.#parts) cost += times * placed.cost
    return cost
  }

  gain(vertex: number, node: number): number {
    let gain = 0
    for (const { placed, times } of this.#parts) gain += times * placed.gain(vertex, node)
    return gain
  }

  visits(vertex: number): number {
    let visits = 0
    for (const { placed } of this.#parts) visits += placed.visits(vertex)
    return visits
  }

  move(vertex: number, node: number): void {
    for (const { placed } of this.#parts) placed.move(vertex, node)
  }
}

export interface Refined {
  readonly nodeOf: Int32Array
  readonly cost: number
}

/**
 * Refines a mapping by swaps. It first numbers the vertices by their nodes: those that exchange much are then near each
 * other in memory. Visits of neighbors become several times faster in large graphs.
 *
 * @param work visits of neighbors
 */
export function refined(
  problem: Problem,
  nodeOf: Int32Array,
  { nodes, work, next }: { readonly nodes: number; readonly work: number; readonly next: () => number },
): Refined {
  const order = entriesByRow(rowStarts(nodes, nodeOf), nodeOf)
  const { neighbors, temperature, place } = problem.renumbered(order)
  const placed = place(nodeOf.slice().sort())
  improveBySwaps(placed, nodes, { neighbors, work, temperature, next })
  const refinedNodes = new Int32Array(nodeOf.length)
  for (let i = 0; i < order.length; i++) refinedNodes[order[i]] = placed.nodeOf[i]
  return { nodeOf: refinedNodes, cost: placed.cost }
}

interface SwapOptions {
  /** The neighbors of each vertex that may gain by sharing its node. */
  readonly neighbors: readonly NeighborSets[]
  /** The budget in visits of neighbors, see {@link PlacedGraph.visits}. The search ends when it is spent. */
  readonly work: number
  /**
   * The cost of a swap that is accepted once in e times at the start; at the end it is a twentieth of that. 0 accepts
   * no loss.
   */
  readonly temperature: number
  readonly next: () => number
}

/** So many vertices of consecutive numbers are tried in turn, so that their neighbors stay in caches. */
const largestWindow = 4096
/** The number of candidates on the other node, of which the best is tried. */
const candidates = 4
const cooling = 20

/**
 * Exchanges vertices between nodes while that lowers the cost, and with falling probability where it does not
 * (simulated annealing, Kirkpatrick 1983). Ends at the least cost that it met. Capacities are respected, because every
 * move has a partner. Vertices are tried roughly in the order of their numbers, so the search is fast if neighbors have
 * near numbers.
 */
export function improveBySwaps(placed: PlacedGraph, nodes: number, options: SwapOptions): void {
  const { neighbors, work, next } = options
  const { nodeOf } = placed
  const members = new NodeMembers(nodeOf, nodes)
  // These swaps were made since the least cost.
  const since = new GrowingPairs()
  let bestCost = placed.cost
  let [spent, temperature] = [0, options.temperature]
  const window = Math.min(nodeOf.length, largestWindow)
  for (let trial = 0; spent < work; trial++) {
    if (trial % 256 === 0) temperature = options.temperature * cooling ** (-spent / work)
    const v = (trial + below(next, window)) % nodeOf.length
    spent++
    const target = nodeOfNeighbor(neighbors, nodeOf, v, next)
    const own = nodeOf[v]
    if (target < 0 || target === own) continue
    const first = placed.gain(v, target)
    const { w, gain: second, visits } = bestCandidate(placed, members, target, own, next)
    spent += placed.visits(v) + visits
    if (first + second < -temperature * 16) continue
    placed.move(v, target)
    const gain = first + placed.gain(w, own)
    spent += 2 * (placed.visits(v) + placed.visits(w))
    if (gain >= 0 || Math.exp(gain / temperature) * 2 ** 32 > next()) {
      placed.move(w, own)
      members.swap(v, w)
      if (placed.cost < bestCost) {
        bestCost = placed.cost
        since.clear()
      } else since.push(v, w)
    } else placed.move(v, own)
  }
  for (let pair = since.pop(); pair !== undefined; pair = since.pop()) {
    const [v, w] = pair
    const node = nodeOf[v]
    placed.move(v, nodeOf[w])
    placed.move(w, node)
  }
}

class GrowingPairs {
  #both = new Int32Array(1024)
  #length = 0

  push(a: number, b: number): void {
    if (this.#length === this.#both.length) {
      const longer = new Int32Array(2 * this.#length)
      longer.set(this.#both)
      this.#both = longer
    }
    this.#both[this.#length++] = a
    this.#both[this.#length++] = b
  }

  pop(): readonly [number, number] | undefined {
    if (this.#length === 0) return undefined
    this.#length -= 2
    return [this.#both[this.#length], this.#both[this.#length + 1]]
  }

  clear(): void {
    this.#length = 0
  }
}

/** Returns the node of a random neighbor; -1 if there is none. */
function nodeOfNeighbor(
  neighbors: readonly NeighborSets[],
  nodeOf: Int32Array,
  v: number,
  next: () => number,
): number {
  let degree = 0
  for (const { start } of neighbors) degree += start[v + 1] - start[v]
  if (degree === 0) return -1
  let at = below(next, degree)
  for (const { start, rank } of neighbors) {
    const own = start[v + 1] - start[v]
    if (at < own) return nodeOf[rank[start[v] + at]]
    at -= own
  }
  return -1
}

/** Returns the best of a few vertices of a node to go to another one, and the visits that the search took. */
function bestCandidate(
  placed: PlacedGraph,
  members: NodeMembers,
  node: number,
  to: number,
  next: () => number,
) {
  let w = -1
  let gain = Number.NEGATIVE_INFINITY
  let visits = 0
  for (let i = 0; i < candidates; i++) {
    const candidate = members.any(node, next)
    const itsGain = placed.gain(candidate, to)
    visits += placed.visits(candidate)
    if (itsGain <= gain) continue
    w = candidate
    gain = itsGain
  }
  return { w, gain, visits }
}

/** Lists the vertices of every node, so that any of them can be drawn. */
class NodeMembers {
  readonly #start: Int32Array
  readonly #member: Int32Array
  readonly #at: Int32Array

  constructor(nodeOf: Int32Array, nodes: number) {
    this.#start = new Int32Array(nodes + 1)
    for (const node of nodeOf) this.#start[node + 1]++
    for (let node = 0; node < nodes; node++) this.#start[node + 1] += this.#start[node]
    const end = this.#start.slice()
    this.#member = new Int32Array(nodeOf.length)
    this.#at = new Int32Array(nodeOf.length)
    for (let v = 0; v < nodeOf.length; v++) {
      this.#at[v] = end[nodeOf[v]]++
      this.#member[this.#at[v]] = v
    }
  }

  any(node: number, next: () => number): number {
    const first = this.#start[node]
    return this.#member[first + below(next, this.#start[node + 1] - first)]
  }

  swap(v: number, w: number): void {
    const at = this.#at[v]
    this.#at[v] = this.#at[w]
    this.#at[w] = at
    this.#member[this.#at[v]] = v
    this.#member[at] = w
  }
}
