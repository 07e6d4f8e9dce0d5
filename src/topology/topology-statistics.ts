import { transposeRows } from './compressed-rows.js'
import { distinctOut } from './neighbors.js'
import { type ProcessTopology, requireTopology } from './process-topology.js'

export interface TopologyStatistics {
  readonly ranks: number
  /** All edges, parallel ones and self loops included. */
  readonly edges: number
  readonly selfLoops: number
  /** The number of edges beyond the first from one rank to another. */
  readonly parallelEdges: number
  /** The number of destinations per rank, counted like `edges`. */
  readonly degree: Degrees
  /** The number of sources per rank, counted like `edges`. */
  readonly inDegree: Degrees
  /** The share of the ordered pairs of different ranks that have an edge, 0 to 1; 0 for a single rank. */
  readonly density: number
  /** The share of those edges whose reverse exists too: 1 for a symmetric topology, and for one without edges. */
  readonly reciprocity: number
}

interface Degrees {
  readonly min: number
  readonly mean: number
  readonly max: number
}

/** Computes size, degrees and symmetry of a topology. */
export function topologyStatistics(topology: ProcessTopology): TopologyStatistics {
  requireTopology(topology)
  const { ranks, outStart, outRank, inStart } = topology
  const distinct = distinctOut(topology)
  const edges = outRank.length
  let selfLoops = 0
  let ranksWithSelfLoop = 0
  for (let p = 0; p < ranks; p++) {
    const before = selfLoops
    for (let e = outStart[p]; e < outStart[p + 1]; e++) if (outRank[e] === p) selfLoops++
    if (selfLoops > before) ranksWithSelfLoop++
  }
  const different = distinct.rank.length
  const pairs = ranks * (ranks - 1)
  return {
    ranks,
    edges,
    selfLoops,
    parallelEdges: edges - different - ranksWithSelfLoop,
    degree: degreesOf(outStart),
    inDegree: degreesOf(inStart),
    density: pairs === 0 ? 0 : different / pairs,
    reciprocity: different === 0 ? 1 : countMutual(distinct) / different,
  }
}

function degreesOf(start: Int32Array): Degrees {
  const ranks = start.length - 1
  let min = start[ranks]
  let max = 0
  for (let p = 0; p < ranks; p++) {
    const degree = start[p + 1] - start[p]
    min = Math.min(min, degree)
    max = Math.max(max, degree)
  }
  return { min, mean: start[ranks] / ranks, max }
}

/** Counts the edges whose reverse exists too. */
function countMutual(out: ReturnType<typeof distinctOut>): number {
  const ranks = out.start.length - 1
  const into = transposeRows(ranks, out)
  let mutual = 0
  for (let p = 0; p < ranks; p++) {
    let i = into.start[p]
    for (let e = out.start[p]; e < out.start[p + 1]; e++) {
      while (i < into.start[p + 1] && into.rank[i] < out.rank[e]) i++
      if (i < into.start[p + 1] && into.rank[i] === out.rank[e]) mutual++
    }
  }
  return mutual
}
