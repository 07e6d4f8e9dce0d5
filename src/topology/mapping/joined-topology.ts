import { requireOptions } from '../../base/known-options.js'
import { RankweaveError, wrongValue } from '../../errors.js'
import { type ProcessTopology, requireTopology } from '../process-topology.js'
import { topologyFromEdges } from '../topology-builders.js'

/** A graph of a program that may have several. */
export interface RepeatedTopology {
  readonly topology: ProcessTopology
  /** The number of times it is exchanged, relative to the other graphs: above 0, at most 1e9. Default 1. */
  readonly times?: number
}

/** A graph whose `times` has been checked. */
interface TimedTopology {
  readonly topology: ProcessTopology
  readonly times: number
}

const mostTimes = 1e9

/** @throws ERR_ARGUMENT, ERR_TOPOLOGY unless there is a graph, and all have equally many ranks */
export function timedTopologies(graphs: readonly RepeatedTopology[]): readonly TimedTopology[] {
  if (!Array.isArray(graphs) || graphs.length === 0)
    throw wrongValue('ERR_ARGUMENT', 'expected a list of one topology or more', graphs)
  return graphs.map((graph: RepeatedTopology) => {
    requireOptions('graph', graph)
    const { topology, times = 1 } = graph
    requireTopology(topology)
    if (!(times > 0 && times <= mostTimes))
      throw wrongValue('ERR_ARGUMENT', `times: expected a number above 0, at most ${mostTimes}`, times)
    const { ranks } = graphs[0].topology as ProcessTopology
    if (topology.ranks === ranks) return { topology, times }
    throw new RankweaveError(
      'ERR_TOPOLOGY',
      `expected graphs of equally many ranks, got ${ranks} and ${topology.ranks}`,
    )
  })
}

/**
 * Joins all edges of several graphs on the same ranks in one graph. The weight of an edge is that in its graph, 1
 * without weights, multiplied by `times`.
 *
 * @throws ERR_ARGUMENT, ERR_TOPOLOGY unless there is a graph, and all have equally many ranks
 */
export function joinedTopology(graphs: readonly RepeatedTopology[]): ProcessTopology {
  const timed = timedTopologies(graphs)
  const edges = timed.reduce((sum, { topology }) => sum + topology.outRank.length, 0)
  const [sources, destinations] = [new Int32Array(edges), new Int32Array(edges)]
  const weights = new Float64Array(edges)
  let at = 0
  for (const { topology, times } of timed) {
    const { ranks, outStart, outRank, outWeight } = topology
    for (let v = 0; v < ranks; v++)
      for (let e = outStart[v]; e < outStart[v + 1]; e++) {
        sources[at] = v
        destinations[at] = outRank[e]
        weights[at++] = times * (outWeight?.[e] ?? 1)
      }
  }
  return topologyFromEdges(timed[0].topology.ranks, { sources, destinations, weights })
}
