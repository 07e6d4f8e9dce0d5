import { wrongValue } from '../../errors.js'
import { distinctIn, distinctOut } from '../neighbors.js'
import { type ProcessTopology, requireTopology } from '../process-topology.js'
import { nodeList, PlacedBusiest, PlacedDistances, uniformDistance } from './placed-graph.js'
import { exchangedAmounts, exchangeGraph } from './weighted-graph.js'

/** The costs of a topology's vertices on their nodes, by every objective of a mapping. */
export interface PlacementCosts {
  readonly pairs: number
  readonly edges: number
  readonly hopBytes: number
  /** The number of pairs that leave or enter the node that has most of either. */
  readonly busiestNode: number
}

/**
 * @param nodeOf the node of every vertex
 * @param distance of two nodes, symmetric; 0 of a node and itself
 * @throws ERR_TOPOLOGY, ERR_MACHINE, ERR_ARGUMENT
 */
export function placementCosts(
  topology: ProcessTopology,
  nodeOf: ArrayLike<number>,
  distance: (nodeA: number, nodeB: number) => number,
): PlacementCosts {
  requireTopology(topology)
  const placedOn = nodeList('nodeOf', nodeOf, topology.ranks)
  if (typeof distance !== 'function')
    throw wrongValue('ERR_ARGUMENT', 'placementCosts: expected a function of two nodes', distance)
  const nodes = placedOn.reduce((most, node) => Math.max(most, node), -1) + 1
  const [out, into] = [distinctOut(topology), distinctIn(topology)]
  const placed = new PlacedBusiest(out, into, nodes, placedOn)
  return {
    pairs: placed.pairs,
    edges: new PlacedDistances(exchangeGraph(out, into), uniformDistance, placedOn).cost,
    hopBytes: new PlacedDistances(exchangedAmounts(topology), distance, placedOn).cost,
    busiestNode: placed.busiest,
  }
}

/** Costs of several graphs together, each times how often it is exchanged. @param times as many as graphs */
export function summedCosts(costs: readonly PlacementCosts[], times: readonly number[]): PlacementCosts {
  const sumOf = (key: keyof PlacementCosts) => costs.reduce((sum, each, i) => sum + times[i] * each[key], 0)
  return {
    ...{ pairs: sumOf('pairs'), edges: sumOf('edges') },
    ...{ hopBytes: sumOf('hopBytes'), busiestNode: sumOf('busiestNode') },
  }
}
