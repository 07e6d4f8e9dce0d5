import { distinctOut } from './neighbors.js'
import type { ProcessTopology } from './process-topology.js'

export interface TopologyStatistics {
  readonly ranks: number
  /** All edges, parallel ones and self loops included. */
  readonly edges: number
  /** Number of destinations per rank, counted like `edges`. */
  readonly degree: { readonly min: number; readonly mean: number; readonly max: number }
  /** Share of the ordered pairs of different ranks that have an edge, 0 to 1; 0 for a single rank. */
  readonly density: number
}

/** Size and degrees of a topology. */
export function topologyStatistics(topology: ProcessTopology): TopologyStatistics {
  const { ranks, outStart, outRank } = topology
  let min = outRank.length
  let max = 0
  for (let r = 0; r < ranks; r++) {
    const degree = outStart[r + 1] - outStart[r]
    min = Math.min(min, degree)
    max = Math.max(max, degree)
  }
  const pairs = ranks * (ranks - 1)
  return {
    ranks,
    edges: outRank.length,
    degree: { min, mean: outRank.length / ranks, max },
    density: pairs === 0 ? 0 : distinctOut(topology).rank.length / pairs,
  }
}
