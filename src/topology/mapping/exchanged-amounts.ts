import type { ProcessTopology } from '../process-topology.js'
import type { ExchangedAmounts } from './placed-distances.js'
import type { WeightedGraph } from './weighted-graph.js'

/**
 * What every pair of vertices exchanges: the sum of the weights of the edges between them in either direction, 1 each in
 * a topology without weights. Loops do not count.
 */
export function exchangedAmounts(topology: ProcessTopology): ExchangedAmounts {
  const { ranks, outStart, outRank, outWeight, inStart, inRank, inWeight } = topology
  const start = new Int32Array(ranks + 1)
  const to = new Int32Array(outRank.length + inRank.length)
  const weight = new Float64Array(to.length)
  const entryOf = new Int32Array(ranks).fill(-1)
  let entries = 0
  for (let v = 0; v < ranks; v++) {
    const first = entries
    const add = (u: number, amount: number) => {
      if (u === v) return
      if (entryOf[u] < first) {
        entryOf[u] = entries
        to[entries] = u
        weight[entries++] = amount
      } else weight[entryOf[u]] += amount
    }
    for (let e = outStart[v]; e < outStart[v + 1]; e++) add(outRank[e], outWeight === null ? 1 : outWeight[e])
    for (let e = inStart[v]; e < inStart[v + 1]; e++) add(inRank[e], inWeight === null ? 1 : inWeight[e])
    start[v + 1] = entries
  }
  return { start, to: to.slice(0, entries), weight: weight.slice(0, entries) }
}

/** The same with integers from 1 for weights: the largest becomes 1000 where they are not integers up to it. */
export function integerAmounts({ start, to, weight }: ExchangedAmounts): WeightedGraph {
  const largest = weight.length === 0 ? 1 : Float64Array.from(weight).reduce((a, b) => Math.max(a, b))
  const scale = largest <= mostWeight ? 1 : mostWeight / largest
  return {
    ...{ start, to },
    weight: Int32Array.from(weight, (amount) => Math.max(1, Math.round(amount * scale))),
    size: new Int32Array(start.length - 1).fill(1),
  }
}

const mostWeight = 1000
