import { type RankweaveError, wrongValue } from '../../errors.js'
import type { NeighborSets } from '../neighbors.js'
import type { ProcessTopology } from '../process-topology.js'
import type { ExchangedAmounts } from './placed-graph.js'
import type { MappingObjective } from './problem.js'

/** An undirected graph without loops: every edge is in the rows of both ends. Sizes and weights are integers from 1. */
export interface WeightedGraph {
  /** Length: vertices + 1. */
  readonly start: Int32Array
  readonly to: Int32Array
  /** The weight of each entry of `to`. */
  readonly weight: Int32Array
  /** The number of vertices of the topology that each vertex stands for. */
  readonly size: Int32Array
  /** The extra cost of each vertex in part 1 compared with part 0, besides cut edges. Null if nothing pulls. */
  readonly pull: Int32Array | null
}

/** Builds the graph of vertices that exchange messages, weighted by how many of the two directions do. */
export function exchangeGraph(out: NeighborSets, into: NeighborSets): WeightedGraph {
  const vertices = out.start.length - 1
  const start = new Int32Array(vertices + 1)
  const to = new Int32Array(out.rank.length + into.rank.length)
  const weight = new Int32Array(to.length)
  let entries = 0
  for (let v = 0; v < vertices; v++) {
    let [o, i] = [out.start[v], into.start[v]]
    const [lastOut, lastIn] = [out.start[v + 1], into.start[v + 1]]
    while (o < lastOut || i < lastIn) {
      const [a, b] = [o < lastOut ? out.rank[o] : vertices, i < lastIn ? into.rank[i] : vertices]
      to[entries] = Math.min(a, b)
      weight[entries++] = a === b ? 2 : 1
      if (a <= b) o++
      if (b <= a) i++
    }
    start[v + 1] = entries
  }
  return {
    start,
    to: to.slice(0, entries),
    weight: weight.slice(0, entries),
    size: new Int32Array(vertices).fill(1),
    pull: null,
  }
}

/** Orders the vertices such that neighbors are near each other: each search begins at the least vertex that is left. */
export function breadthFirst({ start, to, size }: WeightedGraph): Int32Array {
  const order = new Int32Array(size.length)
  const has = new Uint8Array(size.length)
  let found = 0
  for (let root = 0, head = 0; root < size.length; root++) {
    if (has[root] === 1) continue
    has[root] = 1
    order[found++] = root
    for (; head < found; head++)
      for (let e = start[order[head]]; e < start[order[head] + 1]; e++) {
        if (has[to[e]] === 1) continue
        has[to[e]] = 1
        order[found++] = to[e]
      }
  }
  return order
}

/** Returns the subgraph of some vertices, in their order. Nothing pulls them. */
export function inducedGraph(graph: WeightedGraph, vertices: Int32Array, scratch: Int32Array): WeightedGraph {
  // `scratch` has -1 everywhere, before and after.
  vertices.forEach((v, i) => {
    scratch[v] = i
  })
  let most = 0
  for (const v of vertices) most += graph.start[v + 1] - graph.start[v]
  const start = new Int32Array(vertices.length + 1)
  const to = new Int32Array(most)
  const weight = new Int32Array(most)
  const size = new Int32Array(vertices.length)
  let entries = 0
  for (const [i, v] of vertices.entries()) {
    size[i] = graph.size[v]
    for (let e = graph.start[v]; e < graph.start[v + 1]; e++) {
      const other = scratch[graph.to[e]]
      if (other < 0) continue
      to[entries] = other
      weight[entries++] = graph.weight[e]
    }
    start[i + 1] = entries
  }
  for (const v of vertices) scratch[v] = -1
  return { start, to: to.subarray(0, entries), weight: weight.subarray(0, entries), size, pull: null }
}

/** A graph of fewer vertices, and the one that stands for each vertex of the finer graph. */
interface Coarsened {
  readonly graph: WeightedGraph
  readonly coarseOf: Int32Array
}

/**
 * Merges pairs of neighbors along heavy edges (Karypis and Kumar 1998, heavy-edge matching).
 *
 * @param order of the vertices, in which they choose
 * @param largest size that a merged vertex may have
 */
export function coarsened(graph: WeightedGraph, order: Int32Array, largest: number): Coarsened {
  const { start, to, weight, size } = graph
  const vertices = size.length
  const mate = new Int32Array(vertices).fill(-1)
  for (const v of order) {
    if (mate[v] >= 0) continue
    let best = v
    let bestWeight = 0
    for (let e = start[v]; e < start[v + 1]; e++) {
      const u = to[e]
      if (mate[u] >= 0 || size[u] + size[v] > largest) continue
      if (weight[e] > bestWeight || (weight[e] === bestWeight && size[u] < size[best])) {
        best = u
        bestWeight = weight[e]
      }
    }
    mate[v] = best
    mate[best] = v
  }
  const coarseOf = new Int32Array(vertices)
  let coarse = 0
  for (let v = 0; v < vertices; v++) coarseOf[v] = mate[v] >= v ? coarse++ : coarseOf[mate[v]]
  return { graph: contracted(graph, coarseOf, mate, coarse), coarseOf }
}

function contracted(
  { start, to, weight, size, pull }: WeightedGraph,
  coarseOf: Int32Array,
  mate: Int32Array,
  vertices: number,
): WeightedGraph {
  const coarseStart = new Int32Array(vertices + 1)
  const coarseTo = new Int32Array(to.length)
  const coarseWeight = new Int32Array(to.length)
  const coarseSize = new Int32Array(vertices)
  const entryOf = new Int32Array(vertices).fill(-1)
  let entries = 0
  for (let v = 0, c = 0; v < size.length; v++) {
    if (mate[v] < v) continue
    const first = entries
    for (const member of mate[v] === v ? [v] : [v, mate[v]]) {
      coarseSize[c] += size[member]
      for (let e = start[member]; e < start[member + 1]; e++) {
        const other = coarseOf[to[e]]
        if (other === c) continue
        // Entries of earlier vertices lie before `first`.
        if (entryOf[other] < first) {
          entryOf[other] = entries
          coarseTo[entries] = other
          coarseWeight[entries++] = weight[e]
        } else coarseWeight[entryOf[other]] += weight[e]
      }
    }
    coarseStart[++c] = entries
  }
  return {
    start: coarseStart,
    to: coarseTo.slice(0, entries),
    weight: coarseWeight.slice(0, entries),
    size: coarseSize,
    pull: pull === null ? null : sumsOf(pull, coarseOf, vertices),
  }
}

function sumsOf(values: Int32Array, groupOf: Int32Array, groups: number): Int32Array {
  const sums = new Int32Array(groups)
  for (const [i, value] of values.entries()) sums[groupOf[i]] += value
  return sums
}

/** Costs are finite for all distances. */
const mostTogether = 1e300

/**
 * Whether an objective can use the weights: they are at least 0, and at most 1e300 together. Only `hop-bytes` reads
 * them.
 */
export function areAmounts(topology: ProcessTopology, objective: MappingObjective): boolean {
  return problemWithAmounts(topology, objective) === null
}

/** @throws ERR_TOPOLOGY unless {@link areAmounts} */
export function requireAmounts(topology: ProcessTopology, objective: MappingObjective): void {
  const error = problemWithAmounts(topology, objective)
  if (error !== null) throw error
}

function problemWithAmounts(
  { outWeight }: ProcessTopology,
  objective: MappingObjective,
): RankweaveError | null {
  if (objective !== 'hop-bytes' || outWeight === null) return null
  let together = 0
  for (const [edge, weight] of outWeight.entries()) {
    if (weight < 0)
      return wrongValue('ERR_TOPOLOGY', `weight of edge ${edge}: expected a number from 0`, weight)
    together += weight
  }
  if (together <= mostTogether) return null
  return wrongValue('ERR_TOPOLOGY', `weights: expected at most ${mostTogether} together`, together)
}

/**
 * Computes what every pair of vertices exchanges: the sum of the weights of the edges between them in either direction.
 * An edge counts 1 in a topology without weights; otherwise the source's weight counts. Loops do not count.
 */
export function exchangedAmounts(topology: ProcessTopology): ExchangedAmounts {
  const { ranks, outStart, outRank, outWeight } = topology
  const received = receivedEdges(topology)
  const start = new Int32Array(ranks + 1)
  const to = new Int32Array(2 * outRank.length)
  const weight = new Float64Array(to.length)
  const entryOf = new Int32Array(ranks).fill(-1)
  let entries = 0
  for (let v = 0; v < ranks; v++) {
    const first = entries
    const add = (u: number, e: number) => {
      if (u === v) return
      if (entryOf[u] < first) {
        entryOf[u] = entries
        to[entries++] = u
      }
      weight[entryOf[u]] += outWeight === null ? 1 : outWeight[e]
    }
    for (let e = outStart[v]; e < outStart[v + 1]; e++) add(outRank[e], e)
    for (let i = received.start[v]; i < received.start[v + 1]; i++) add(received.source[i], received.edge[i])
    start[v + 1] = entries
  }
  return { start, to: to.slice(0, entries), weight: weight.slice(0, entries) }
}

/** Returns for every rank the edges that lead to it: their sources, and their places in `outRank`. */
function receivedEdges({ ranks, outStart, outRank }: ProcessTopology) {
  const start = new Int32Array(ranks + 1)
  for (const rank of outRank) start[rank + 1]++
  for (let v = 0; v < ranks; v++) start[v + 1] += start[v]
  const next = start.slice()
  const source = new Int32Array(outRank.length)
  const edge = new Int32Array(outRank.length)
  for (let v = 0; v < ranks; v++)
    for (let e = outStart[v]; e < outStart[v + 1]; e++) {
      const at = next[outRank[e]]++
      source[at] = v
      edge[at] = e
    }
  return { start, source, edge }
}

/** Rounds amounts to integers from 1 to 1000. Unless they are such integers, they are scaled to a largest of 1000 before. */
export function integerAmounts({ start, to, weight }: ExchangedAmounts): WeightedGraph {
  const amounts = Float64Array.from(weight)
  const largest = amounts.reduce((a, b) => Math.max(a, b), 0)
  const isScaled = largest > mostWeight || !amounts.every(Number.isInteger)
  const scaled = (amount: number) => (isScaled ? (amount / largest) * mostWeight : amount)
  return {
    ...{ start, to },
    weight: Int32Array.from(amounts, (amount) => Math.max(1, Math.round(scaled(amount)))),
    size: new Int32Array(start.length - 1).fill(1),
    pull: null,
  }
}

const mostWeight = 1000
