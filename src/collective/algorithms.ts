import { reasonText, shortened, wrongValue } from '../errors.js'
import type { Collective } from '../schedule/specification.js'
import { allgatherBinomial } from './allgather-binomial.js'
import { allgatherBruck } from './allgather-bruck.js'
import { allgatherBucket } from './allgather-bucket.js'
import { allgatherDistanceHalving } from './allgather-distance-halving.js'
import { allgatherLinear } from './allgather-linear.js'
import { allgatherNeighborExchange } from './allgather-neighbor-exchange.js'
import { allgatherRecursiveDoubling } from './allgather-recursive-doubling.js'
import { allgatherReordered } from './allgather-reordered.js'
import { allgatherRing } from './allgather-ring.js'
import { allgatherTwoProc } from './allgather-two-proc.js'
import { allreduceBinary } from './allreduce-binary.js'
import { allreduceBucket } from './allreduce-bucket.js'
import { allreduceLinear } from './allreduce-linear.js'
import { allreduceRabenseifner } from './allreduce-rabenseifner.js'
import { allreduceRecursiveDoubling } from './allreduce-recursive-doubling.js'
import { allreduceReordered } from './allreduce-reordered.js'
import { allreduceRing } from './allreduce-ring.js'
import { allreduceRingSegmented } from './allreduce-ring-segmented.js'
import { allreduceSegmented } from './allreduce-segmented.js'
import { allreduceTree } from './allreduce-tree.js'
import { alltoallBruck } from './alltoall-bruck.js'
import { alltoallLinear } from './alltoall-linear.js'
import { alltoallPairwise } from './alltoall-pairwise.js'
import { alltoallTwoProc } from './alltoall-two-proc.js'
import { barrierDissemination } from './barrier-dissemination.js'
import { barrierDoubleRing } from './barrier-double-ring.js'
import { barrierLinear } from './barrier-linear.js'
import { barrierRecursiveDoubling } from './barrier-recursive-doubling.js'
import { barrierTree } from './barrier-tree.js'
import { bcastBinary } from './bcast-binary.js'
import { bcastBinomial } from './bcast-binomial.js'
import { bcastBucket } from './bcast-bucket.js'
import { bcastChain } from './bcast-chain.js'
import { bcastKnomial } from './bcast-knomial.js'
import { bcastLinear } from './bcast-linear.js'
import { bcastReordered } from './bcast-reordered.js'
import { bcastScatterAllgather } from './bcast-scatter-allgather.js'
import { bcastScatterDoubling } from './bcast-scatter-doubling.js'
import { bcastSplitBinary } from './bcast-split-binary.js'
import { exscanChain } from './exscan-chain.js'
import { exscanRecursiveDoubling } from './exscan-recursive-doubling.js'
import { exscanTree } from './exscan-tree.js'
import { gatherBinomial } from './gather-binomial.js'
import { gatherLinear } from './gather-linear.js'
import { gatherLinearSync } from './gather-linear-sync.js'
import type { Algorithm } from './patterns/algorithm.js'
import { parsedSettings } from './patterns/parameterized.js'
import { reduceBinary } from './reduce-binary.js'
import { reduceBucket } from './reduce-bucket.js'
import { reduceChain } from './reduce-chain.js'
import { reduceInOrderBinary } from './reduce-in-order-binary.js'
import { reduceLinear } from './reduce-linear.js'
import { reduceRabenseifner } from './reduce-rabenseifner.js'
import { reduceReordered } from './reduce-reordered.js'
import { reduceScatterBinomial } from './reduce-scatter-binomial.js'
import { reduceScatterBucket } from './reduce-scatter-bucket.js'
import { reduceScatterPairwise } from './reduce-scatter-pairwise.js'
import { reduceScatterRecursiveHalving } from './reduce-scatter-recursive-halving.js'
import { reduceScatterReordered } from './reduce-scatter-reordered.js'
import { reduceScatterRing } from './reduce-scatter-ring.js'
import { reduceScatterTree } from './reduce-scatter-tree.js'
import { reduceTree } from './reduce-tree.js'
import { scanChain } from './scan-chain.js'
import { scanRecursiveDoubling } from './scan-recursive-doubling.js'
import { scanTree } from './scan-tree.js'
import { scatterBinomial } from './scatter-binomial.js'
import { scatterLinear } from './scatter-linear.js'

/** All algorithms, by collective. */
export const algorithms: readonly Algorithm[] = Object.freeze([
  barrierLinear,
  barrierDissemination,
  barrierRecursiveDoubling,
  barrierDoubleRing,
  barrierTree,
  bcastLinear,
  bcastBinomial,
  bcastKnomial,
  bcastBinary,
  bcastSplitBinary,
  bcastChain,
  bcastScatterAllgather,
  bcastScatterDoubling,
  bcastReordered,
  bcastBucket,
  scatterLinear,
  scatterBinomial,
  gatherLinear,
  gatherLinearSync,
  gatherBinomial,
  allgatherLinear,
  allgatherBinomial,
  allgatherBruck,
  allgatherRecursiveDoubling,
  allgatherDistanceHalving,
  allgatherNeighborExchange,
  allgatherRing,
  allgatherTwoProc,
  allgatherReordered,
  allgatherBucket,
  alltoallLinear,
  alltoallPairwise,
  alltoallBruck,
  alltoallTwoProc,
  reduceLinear,
  reduceChain,
  reduceTree,
  reduceBinary,
  reduceInOrderBinary,
  reduceRabenseifner,
  reduceReordered,
  reduceBucket,
  allreduceLinear,
  allreduceTree,
  allreduceBinary,
  allreduceSegmented,
  allreduceRecursiveDoubling,
  allreduceRabenseifner,
  allreduceRing,
  allreduceRingSegmented,
  allreduceReordered,
  allreduceBucket,
  reduceScatterTree,
  reduceScatterBinomial,
  reduceScatterRecursiveHalving,
  reduceScatterPairwise,
  reduceScatterRing,
  reduceScatterReordered,
  reduceScatterBucket,
  scanChain,
  scanRecursiveDoubling,
  scanTree,
  exscanChain,
  exscanRecursiveDoubling,
  exscanTree,
])

const byId: ReadonlyMap<string, Algorithm> = new Map(algorithms.map((algorithm) => [algorithm.id, algorithm]))

/**
 * Returns the algorithm of an id, with its parameters: `bcast-binomial`, `bcast-knomial:radix=8`.
 *
 * @param text the id, then a colon and `name=value` for each parameter without its default, joined by commas
 * @param collective the collective that the algorithm must serve. Default: any.
 * @throws ERR_ARGUMENT naming the known algorithms, or the parameters of this one with their bounds
 */
export function algorithmOf(text: string, collective?: Collective): Algorithm {
  const { family, settings } = familyOf(text, collective)
  if (settings === undefined) return family
  const values = parsedSettings(family, text, settings)
  return family.with?.(values) ?? family
}

/**
 * Splits a line of text into the algorithm with which it begins and the settings after the colon. @throws ERR_ARGUMENT
 */
export function familyOf(
  text: string,
  collective?: Collective,
): { readonly family: Algorithm; readonly settings?: string } {
  const colon = typeof text === 'string' ? text.indexOf(':') : -1
  const family = byId.get(colon < 0 ? text : text.slice(0, colon))
  if (family !== undefined && (collective === undefined || family.collective === collective))
    return colon < 0 ? { family } : { family, settings: text.slice(colon + 1) }
  const known = algorithms.filter((other) => collective === undefined || other.collective === collective)
  const expected = `expected an algorithm${collective === undefined ? '' : ` of ${shortened(reasonText(collective))}`} among ${known.map((other) => other.id).join(', ')}`
  throw wrongValue('ERR_ARGUMENT', expected, text)
}
