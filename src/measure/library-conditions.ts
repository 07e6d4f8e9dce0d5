import type { Collective } from '../schedule/specification.js'
import type { ElementType } from '../tuning/measured/measurement.js'
import { callProcesses, isReduction, type TuningCall } from '../tuning/settings/tuning-call.js'
import { elementBytes } from './grid.js'

/** The sizes that decide whether an algorithm of a library serves a call. */
export interface CallSizes {
  readonly processes: number
  readonly nodes: number
  readonly processesPerNode: number
  /** The elements of the data that MPI's count describes. */
  readonly elements: number
  readonly bytes: number
  /** The bytes of a segment; 0 for whole data. */
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
/** Requires an element for each process of the largest power of two. */
const isHalvable: Condition = ({ processes, elements }) => elements >= 2 ** Math.floor(Math.log2(processes))
/** Requires several processes on each of several nodes. */
const isTwoLevel: Condition = ({ nodes, processesPerNode }) => nodes > 1 && processesPerNode > 1
const never: Condition = () => false

/**
 * The conditions under which Open MPI 4.1 runs the named algorithm and not silently another one. Algorithms without a
 * condition serve every call.
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
    // Every process has a segment.
    segmented_ring: ({ bytes, processes, segment }) => segment > 0 && bytes >= processes * segment,
    rabenseifner: isHalvable,
  },
}

/** The conditions of MPICH 4.0 and 4.1. */
export const mpichConditions: LibraryConditions = {
  barrier: { smp: isTwoLevel },
  bcast: {
    smp: isTwoLevel,
    scatter_recursive_doubling_allgather: isPowerOfTwo,
  },
  allgather: { recursive_doubling: isPowerOfTwo },
  // MPICH uses this one for exchanges in place only.
  alltoall: { pairwise_sendrecv_replace: never },
  reduce: { smp: isTwoLevel, reduce_scatter_gather: isHalvable },
  allreduce: { smp: isTwoLevel, reduce_scatter_allgather: isHalvable },
  'reduce-scatter': { noncommutative: isPowerOfTwo },
  scan: { smp: isTwoLevel },
}
