import { type RankweaveError, wrongValue } from '../../errors.js'
import type { ProcessTopology } from '../process-topology.js'
import type { MappingObjective } from './objectives.js'
import type { ExchangedAmounts } from './placed-distances.js'
import type { WeightedGraph } from './weighted-graph.js'

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
