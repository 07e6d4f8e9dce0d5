import type { Collective } from '../schedule/specification.js'
import type { ElementType } from '../tuning/measured/measurement.js'
import { callProcesses, isReduction, type TuningCall } from '../tuning/settings/tuning-call.js'
import { elementBytes } from './grid.js'

/** What decides whether an algorithm of a library serves a call. */
export interface CallSizes {
  readonly processes: number
  readonly nodes: number
  readonly processesPerNode: number
  /** Of what MPI's count describes. */
  readonly elements: number
  readonly bytes: number
  /** Bytes of a segment; 0 for whole data. */
  readonly segment: number
}

export function sizesOfCall(call: TuningCall, elementType: ElementType, segment: number): CallSizes {
  const { bytes, nodes, processesPerNode } = call
  const elements = isReduction(call.collective) ? bytes / elementBytes(elementType) : bytes
  return { processes: callProcesses(call), nodes, processesPerNode, elements, bytes, segment }
}

type Condition = (sizes: CallSizes) => boolean
export type LibraryConditions = Readonly<Partial<Record<Collective, Readonly<Record<string, Condition>>>>>

const isPowerOfTwo: Condition = ({ processes }) => Number.isInteger(Math.log2(processes))
const isPair: Condition = ({ processes }) => processes === 2
const isEven: Condition = ({ processes }) => processes % 2 === 0
/** An element for each process of the largest power of two. */
const isHalvable: Condition = ({ processes, elements }) => elements >= 2 ** Math.floor(Math.log2(processes))
/** Several processes on each of several nodes. */
const isTwoLevel: Condition = ({ nodes, processesPerNode }) => nodes > 1 && processesPerNode > 1
const never: Condition = () => false

/**
 * Where Open MPI 4.1 carries out a call by the algorithm that it was told, and not silently by another one. Algorithms
 * without a condition serve every call.
 */
export const openMpiConditions: LibraryConditions = {
  barrier: { two_proc: isPair },
  bcast: {
    // Each half holds a segment.
    split_binary_tree: ({ elements, bytes, segment }) => elements >= 2 && segment <= Math.floor(bytes / 2),
  },
  allgather: { recursive_doubling: isPowerOfTwo, neighbor: isEven, two_proc: isPair },
  alltoall: { two_proc: isPair },
  reduce: { rabenseifner: isHalvable },
  allreduce: {
    ring: ({ elements, processes }) => elements >= processes,
    // A segment for each process.
    segmented_ring: ({ bytes, processes, segment }) => segment > 0 && bytes >= processes * segment,
    rabenseifner: isHalvable,
  },
}

/** The same of MPICH 4.0 and 4.1. */
export const mpichConditions: LibraryConditions = {
  barrier: { smp: isTwoLevel },
  bcast: {
    smp: isTwoLevel,
    scatter_recursive_doubling_allgather: isPowerOfTwo,
  },
  allgather: { recursive_doubling: isPowerOfTwo },
  // Only where data are exchanged in place.
  alltoall: { pairwise_sendrecv_replace: never },
  reduce: { smp: isTwoLevel, reduce_scatter_gather: isHalvable },
  allreduce: { smp: isTwoLevel, reduce_scatter_allgather: isHalvable },
  'reduce-scatter': { noncommutative: isPowerOfTwo },
  scan: { smp: isTwoLevel },
}
