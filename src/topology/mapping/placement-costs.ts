import { distinctIn, distinctOut } from '../neighbors.js'
import type { ProcessTopology } from '../process-topology.js'
import { exchangedAmounts } from './exchanged-amounts.js'
import { PlacedBusiest } from './placed-busiest.js'
import { PlacedDistances } from './placed-distances.js'
import { exchangeGraph } from './weighted-graph.js'

/** What the vertices of a topology cost on their nodes, by every objective of a mapping. */
export interface PlacementCosts {
  readonly pairs: number
  readonly edges: number
  readonly hopBytes: number
  /** Pairs that leave or enter the node that has most of either. */
  readonly busiestNode: number
}

/**
 * @param nodeOf the node of every vertex
 * @param nodes how many there are
 * @param distance of two nodes; 0 of a node and itself
 */
export function placementCosts(
  topology: ProcessTopology,
  nodeOf: Int32Array,
  nodes: number,
  distance: (nodeA: number, nodeB: number) => number,
): PlacementCosts {
  const [out, into] = [distinctOut(topology), distinctIn(topology)]
  const placed = new PlacedBusiest(out, into, nodes, nodeOf)
  const apart = (a: number, b: number) => (a === b ? 0 : 1)
  return {
    pairs: placed.pairs,
    edges: new PlacedDistances(exchangeGraph(out, into), apart, nodes, nodeOf).cost,
    hopBytes: new PlacedDistances(exchangedAmounts(topology), distance, nodes, nodeOf).cost,
    busiestNode: placed.busiest,
  }
}
