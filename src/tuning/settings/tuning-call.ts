import type { CombinationOrder } from '../../collective/patterns/algorithm.js'
import type { Collective } from '../../schedule/specification.js'
import { compareWords } from './setting.js'

/**
 * A call of a collective as decisions see it: what all its ranks know before it.
 *
 * Processes are spread evenly: each of `nodes` nodes has `processesPerNode` of them.
 */
export interface TuningCall {
  readonly collective: Collective
  /** At least 1. */
  readonly nodes: number
  /** At least 1; `nodes * processesPerNode` is at most 2^22. */
  readonly processesPerNode: number
  /**
   * What MPI's count describes, 0 to 2^40: the whole vector of bcast, reduce, allreduce and scan, the block of
   * one rank of the others; 0 of a barrier.
   */
  readonly bytes: number
  /** Of reductions: the name of the operation. Absent: not distinguished. */
  readonly operation?: string
  /** Of reductions: the weakest order of combination that serves the call. Absent: not distinguished. */
  readonly order?: CombinationOrder
  /** Whether all processes can read each other's memory. Absent: not distinguished. */
  readonly isMemoryShared?: boolean
}

export const callLimits = { processes: 2 ** 22, bytes: 2 ** 40 } as const

const reductions: readonly Collective[] = ['reduce', 'allreduce', 'reduce-scatter', 'scan', 'exscan']

export function isReduction(collective: Collective): boolean {
  return reductions.includes(collective)
}

export function callProcesses({ nodes, processesPerNode }: TuningCall): number {
  return nodes * processesPerNode
}

/** The part of a call that is no size: calls of one kind form a grid of nodes, processes per node and bytes. */
export function callKind({ collective, operation, order, isMemoryShared }: TuningCall): string {
  return [collective, operation ?? '', order ?? '', isMemoryShared ?? ''].join(' ')
}

/** Equal calls have equal keys. */
export function callKey(call: TuningCall): string {
  return `${callKind(call)} ${call.nodes} ${call.processesPerNode} ${call.bytes}`
}

/** Total order of calls: by kind, processes, nodes and bytes. */
export function compareCalls(a: TuningCall, b: TuningCall): number {
  return (
    compareWords(callKind(a), callKind(b)) ||
    callProcesses(a) - callProcesses(b) ||
    a.nodes - b.nodes ||
    a.bytes - b.bytes
  )
}

/** A call as it stands in a message: `bcast of 1024 B on 4 x 2 processes`. */
export function callText(call: TuningCall): string {
  const { collective, bytes, nodes, processesPerNode, operation, order, isMemoryShared } = call
  const kind = [
    ...(operation === undefined ? [] : [operation]),
    ...(order === undefined ? [] : [`order ${order}`]),
    ...(isMemoryShared === undefined ? [] : [isMemoryShared ? 'shared memory' : 'no shared memory']),
  ]
  const more = kind.length === 0 ? '' : ` (${kind.join(', ')})`
  return `${collective} of ${bytes} B on ${nodes} x ${processesPerNode} processes${more}`
}
