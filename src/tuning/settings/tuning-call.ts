import type { CombinationOrder } from '../../collective/patterns/algorithm.js'
import type { Collective } from '../../schedule/specification.js'
import { compareWords } from './setting.js'

/**
 * A call of a collective as decisions see it, described by what all its ranks know before it.
 *
 * Processes are spread evenly: each of `nodes` nodes has `processesPerNode` of them.
 */
export interface TuningCall {
  readonly collective: Collective
  /** The number of nodes, at least 1. */
  readonly nodes: number
  /** The number of processes on each node, at least 1; `nodes * processesPerNode` is at most 2^22. */
  readonly processesPerNode: number
  /**
   * The bytes that MPI's count describes, 0 to 2^40; 0 for a barrier. They are the vector of bcast, reduce, allreduce
   * and scan, or one rank's block for the others.
   */
  readonly bytes: number
  /** The name of a reduction's operation. Absent: not distinguished. */
  readonly operation?: string
  /** The weakest order of combination that serves a reduction. Absent: not distinguished. */
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

/**
 * Returns the part of a call that is not a size: calls of one kind form a grid of nodes, processes per node and bytes.
 */
export function callKind({ collective, operation, order, isMemoryShared }: TuningCall): string {
  return [collective, operation ?? '', order ?? '', isMemoryShared ?? ''].join(' ')
}

/** Returns a key that is equal for equal calls. */
export function callKey(call: TuningCall): string {
  return `${callKind(call)} ${call.nodes} ${call.processesPerNode} ${call.bytes}`
}

/** Compares calls in total order: by kind, processes, nodes and bytes. */
export function compareCalls(a: TuningCall, b: TuningCall): number {
  return (
    compareWords(callKind(a), callKind(b)) ||
    callProcesses(a) - callProcesses(b) ||
    a.nodes - b.nodes ||
    a.bytes - b.bytes
  )
}

/** Returns a call in the words of messages: `bcast of 1024 B on 4 x 2 processes`. */
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

/**
 * The attributes that a tree may test as a number. The composites are products of the others, as doubles.
 *
 * | attribute | value |
 * |---|---|
 * | `nodes`, `processesPerNode`, `bytes` | of the call |
 * | `processes` | nodes x processesPerNode |
 * | `totalBytes` | bytes x processes |
 * | `bytesPerNode` | bytes x processesPerNode |
 * | `distributedBytes` | bytes x (processes - 1): what one process sends or receives of blocks of others |
 *
 * @see Pjesivac-Grbovic 2007 §6.3.3
 */
const numberAttributes = [
  ...(['nodes', 'processesPerNode', 'processes', 'bytes'] as const),
  ...(['totalBytes', 'bytesPerNode', 'distributedBytes'] as const),
] as const

export type NumberAttribute = (typeof numberAttributes)[number]

/**
 * The attributes that a tree may test as a word. `isMemoryShared`, `evenProcesses` and `powerOfTwoProcesses` are `yes`
 * or `no`; the empty word stands for one that a call does not state.
 */
export const wordAttributes = [
  ...(['collective', 'operation', 'order', 'isMemoryShared'] as const),
  ...(['evenProcesses', 'powerOfTwoProcesses'] as const),
] as const

export type WordAttribute = (typeof wordAttributes)[number]

export type Attribute = NumberAttribute | WordAttribute

/** The attributes that follow from others, except `processes`: domain knowledge that rectangles of sizes lack. */
const compositeAttributes: readonly Attribute[] = [
  ...(['totalBytes', 'bytesPerNode', 'distributedBytes', 'evenProcesses', 'powerOfTwoProcesses'] as const),
]

export const allAttributes: readonly Attribute[] = [...numberAttributes, ...wordAttributes]

/** All attributes except the composites. */
export const plainAttributes: readonly Attribute[] = allAttributes.filter(
  (name) => !compositeAttributes.includes(name),
)

export function isNumberAttribute(attribute: Attribute): attribute is NumberAttribute {
  return (numberAttributes as readonly Attribute[]).includes(attribute)
}

export function numberOf(call: TuningCall, attribute: NumberAttribute): number {
  switch (attribute) {
    case 'nodes':
      return call.nodes
    case 'processesPerNode':
      return call.processesPerNode
    case 'processes':
      return callProcesses(call)
    case 'bytes':
      return call.bytes
    case 'totalBytes':
      return call.bytes * callProcesses(call)
    case 'bytesPerNode':
      return call.bytes * call.processesPerNode
    case 'distributedBytes':
      return call.bytes * (callProcesses(call) - 1)
  }
}

export function wordOf(call: TuningCall, attribute: WordAttribute): string {
  switch (attribute) {
    case 'evenProcesses':
      return yesNo(callProcesses(call) % 2 === 0)
    case 'powerOfTwoProcesses':
      return yesNo((callProcesses(call) & (callProcesses(call) - 1)) === 0)
    default:
      return statedWordOf(call, attribute)
  }
}

export interface CallWords {
  readonly collective: string
  readonly operation?: string | undefined
  readonly order?: string | undefined
  readonly isMemoryShared?: boolean | undefined
}

/** Returns a word that does not follow from the number of processes. */
export function statedWordOf(call: CallWords, attribute: WordAttribute): string {
  switch (attribute) {
    case 'collective':
      return call.collective
    case 'operation':
      return call.operation ?? ''
    case 'order':
      return call.order ?? ''
    default:
      return call.isMemoryShared === undefined ? '' : yesNo(call.isMemoryShared)
  }
}

function yesNo(value: boolean): string {
  return value ? 'yes' : 'no'
}
