import { callProcesses, type TuningCall } from './tuning-call.js'

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
export const numberAttributes = [
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
export const compositeAttributes: readonly Attribute[] = [
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
