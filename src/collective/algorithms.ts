import { reasonText, shortened, wrongValue } from '../errors.js'
import type { Collective, NeighborCollective } from '../schedule/specification.js'
import { allgatherBinomial } from './allgather/allgather-binomial.js'
import { allgatherBruck } from './allgather/allgather-bruck.js'
import { allgatherDistanceHalving } from './allgather/allgather-distance-halving.js'
import { allgatherLinear } from './allgather/allgather-linear.js'
import { allgatherNeighborExchange } from './allgather/allgather-neighbor-exchange.js'
import { allgatherRecursiveDoubling } from './allgather/allgather-recursive-doubling.js'
import { allgatherRing } from './allgather/allgather-ring.js'
import { allgatherTwoProc } from './allgather/allgather-two-proc.js'
import { allreduceBinary } from './allreduce/allreduce-binary.js'
import { allreduceLinear } from './allreduce/allreduce-linear.js'
import { allreduceRabenseifner } from './allreduce/allreduce-rabenseifner.js'
import { allreduceRecursiveDoubling } from './allreduce/allreduce-recursive-doubling.js'
import { allreduceRing } from './allreduce/allreduce-ring.js'
import { allreduceRingSegmented } from './allreduce/allreduce-ring-segmented.js'
import { allreduceSegmented } from './allreduce/allreduce-segmented.js'
import { allreduceTree } from './allreduce/allreduce-tree.js'
import { alltoallBruck } from './alltoall/alltoall-bruck.js'
import { alltoallLinear } from './alltoall/alltoall-linear.js'
import { alltoallPairwise } from './alltoall/alltoall-pairwise.js'
import { alltoallTwoProc } from './alltoall/alltoall-two-proc.js'
import { barrierDissemination } from './barrier/barrier-dissemination.js'
import { barrierDoubleRing } from './barrier/barrier-double-ring.js'
import { barrierLinear } from './barrier/barrier-linear.js'
import { barrierRecursiveDoubling } from './barrier/barrier-recursive-doubling.js'
import { barrierTree } from './barrier/barrier-tree.js'
import { bcastBinary } from './bcast/bcast-binary.js'
import { bcastBinomial } from './bcast/bcast-binomial.js'
import { bcastChain } from './bcast/bcast-chain.js'
import { bcastKnomial } from './bcast/bcast-knomial.js'
import { bcastLinear } from './bcast/bcast-linear.js'
import { bcastScatterAllgather } from './bcast/bcast-scatter-allgather.js'
import { bcastScatterDoubling } from './bcast/bcast-scatter-doubling.js'
import { bcastSplitBinary } from './bcast/bcast-split-binary.js'
import { exscanChain } from './exscan/exscan-chain.js'
import { exscanRecursiveDoubling } from './exscan/exscan-recursive-doubling.js'
import { exscanTree } from './exscan/exscan-tree.js'
import { gatherBinomial } from './gather/gather-binomial.js'
import { gatherLinear } from './gather/gather-linear.js'
import { gatherLinearSync } from './gather/gather-linear-sync.js'
import type { Algorithm } from './patterns/algorithm.js'
import { parsedSettings } from './patterns/parameterized.js'
import { reduceBinary } from './reduce/reduce-binary.js'
import { reduceChain } from './reduce/reduce-chain.js'
import { reduceInOrderBinary } from './reduce/reduce-in-order-binary.js'
import { reduceLinear } from './reduce/reduce-linear.js'
import { reduceRabenseifner } from './reduce/reduce-rabenseifner.js'
import { reduceTree } from './reduce/reduce-tree.js'
import { reduceScatterBinomial } from './reduce-scatter/reduce-scatter-binomial.js'
import { reduceScatterPairwise } from './reduce-scatter/reduce-scatter-pairwise.js'
import { reduceScatterRecursiveHalving } from './reduce-scatter/reduce-scatter-recursive-halving.js'
import { reduceScatterRing } from './reduce-scatter/reduce-scatter-ring.js'
import { reduceScatterTree } from './reduce-scatter/reduce-scatter-tree.js'
import { scanChain } from './scan/scan-chain.js'
import { scanRecursiveDoubling } from './scan/scan-recursive-doubling.js'
import { scanTree } from './scan/scan-tree.js'
import { scatterBinomial } from './scatter/scatter-binomial.js'
import { scatterLinear } from './scatter/scatter-linear.js'
import { bucket, reordered } from './ways/families.js'

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
  reordered.bcast,
  bucket.bcast,
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
  reordered.allgather,
  bucket.allgather,
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
  reordered.reduce,
  bucket.reduce,
  allreduceLinear,
  allreduceTree,
  allreduceBinary,
  allreduceSegmented,
  allreduceRecursiveDoubling,
  allreduceRabenseifner,
  allreduceRing,
  allreduceRingSegmented,
  reordered.allreduce,
  bucket.allreduce,
  reduceScatterTree,
  reduceScatterBinomial,
  reduceScatterRecursiveHalving,
  reduceScatterPairwise,
  reduceScatterRing,
  reordered['reduce-scatter'],
  bucket['reduce-scatter'],
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

/** The calls that the algorithms of a collective serve, the same for each of them. */
export interface ServedCalls {
  /** The methods of a communicator; each also has a form that starts it and a persistent one. */
  readonly calls: readonly string[]
  /** The calls among these whose blocks may differ in length. */
  readonly uneven: readonly string[]
  /** Whether a result may lie where the data are, as with MPI_IN_PLACE. */
  readonly inPlace: boolean
}

/** The calls of every collective that has algorithms. */
export const servedCalls: Readonly<Record<Exclude<Collective, NeighborCollective>, ServedCalls>> = {
  barrier: { calls: ['barrier'], uneven: [], inPlace: false },
  bcast: { calls: ['bcast'], uneven: [], inPlace: true },
  scatter: { calls: ['scatter', 'scatterv'], uneven: ['scatterv'], inPlace: true },
  gather: { calls: ['gather', 'gatherv'], uneven: ['gatherv'], inPlace: true },
  allgather: { calls: ['allgather', 'allgatherv'], uneven: ['allgatherv'], inPlace: true },
  alltoall: { calls: ['alltoall', 'alltoallv'], uneven: ['alltoallv'], inPlace: true },
  reduce: { calls: ['reduce'], uneven: [], inPlace: true },
  allreduce: { calls: ['allreduce'], uneven: [], inPlace: true },
  'reduce-scatter': { calls: ['reduceScatter'], uneven: ['reduceScatter'], inPlace: true },
  scan: { calls: ['scan'], uneven: [], inPlace: true },
  exscan: { calls: ['exscan'], uneven: [], inPlace: true },
}
