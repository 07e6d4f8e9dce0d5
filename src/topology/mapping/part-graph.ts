import { indexIn } from '../../base/search.js'
import type { MappingObjective } from './objectives.js'

/** The edges from some vertices of a larger graph, as the process that hosts them knows them. */
export interface PartGraph {
  /** The vertices of the part and their destinations, ascending. A place is an index into it. */
  readonly named: Int32Array
  /** The place of every vertex of the part. */
  readonly own: Int32Array
  /** The first entry of every vertex's destinations. Length: vertices of the part + 1. */
  readonly start: Int32Array
  /** The places of the distinct destinations of a vertex except itself, ascending. */
  readonly to: Int32Array
  /** The weight of each entry of `to`: the sum of the weights of its edges, or 1. */
  readonly weight: Float64Array
}

/** The edges that one vertex of a part sends along. */
interface PartRow {
  readonly destinations: ArrayLike<number>
  readonly destinationWeights?: ArrayLike<number>
}

/**
 * Builds the graph of a part of all vertices.
 *
 * @param vertices ascending
 * @param rows of each of them
 * @param addsWeights whether edges count by their weights, or 1 each without weights; else each distinct one counts
 *   once
 */
export function partGraph(vertices: Int32Array, rows: readonly PartRow[], addsWeights: boolean): PartGraph {
  const named = Int32Array.from(distinctRanks(vertices, rows)).sort()
  const start = new Int32Array(vertices.length + 1)
  const to: number[] = []
  const weight: number[] = []
  for (const [i, { destinations, destinationWeights }] of rows.entries()) {
    const amounts = new Map<number, number>()
    for (let e = 0; e < destinations.length; e++) {
      const u = destinations[e]
      if (u === vertices[i]) continue
      const before = amounts.get(u) ?? 0
      amounts.set(u, addsWeights ? before + (destinationWeights?.[e] ?? 1) : 1)
    }
    for (const [u, amount] of [...amounts].sort(([a], [b]) => a - b)) {
      to.push(indexIn(named, u))
      weight.push(amount)
    }
    start[i + 1] = to.length
  }
  return {
    ...{ named, start },
    own: vertices.map((vertex) => indexIn(named, vertex)),
    to: Int32Array.from(to),
    weight: Float64Array.from(weight),
  }
}

function distinctRanks(vertices: Int32Array, rows: readonly PartRow[]): Set<number> {
  const ranks = new Set<number>(vertices)
  for (const { destinations } of rows)
    for (let e = 0; e < destinations.length; e++) ranks.add(destinations[e])
  return ranks
}

/** Nodes of a machine, and how far apart they are. */
export interface NodeDistances {
  readonly nodes: number
  readonly distance: (nodeA: number, nodeB: number) => number
}

/**
 * Computes the cost of the vertices of a part. The sums over all parts make the cost of the whole: the only entry, or
 * the largest of several ({@link costOfParts}).
 *
 * @param nodeOf the node of every place
 * @returns for `busiest-node` pairs that leave node n at 2n and that enter it at 2n + 1, else one entry
 */
export function partCosts(
  { own, start, to, weight }: PartGraph,
  nodeOf: Int32Array,
  objective: MappingObjective,
  { nodes, distance }: NodeDistances,
): Float64Array {
  const costs = new Float64Array(objective === 'busiest-node' ? 2 * nodes : 1)
  const reached = new Set<number>()
  for (let v = 0; v < own.length; v++) {
    const node = nodeOf[own[v]]
    reached.clear()
    for (let e = start[v]; e < start[v + 1]; e++) {
      const other = nodeOf[to[e]]
      if (other === node) continue
      if (objective === 'edges') costs[0]++
      else if (objective === 'hop-bytes') costs[0] += weight[e] * distance(node, other)
      else reached.add(other)
    }
    if (objective === 'pairs') costs[0] += reached.size
    else
      for (const other of reached) {
        costs[2 * node]++
        costs[2 * other + 1]++
      }
  }
  return costs
}

/** Returns the cost of a whole graph. @param sums of {@link partCosts} over all parts */
export function costOfParts(sums: Float64Array): number {
  return sums.reduce((most, sum) => Math.max(most, sum), 0)
}
