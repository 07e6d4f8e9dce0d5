import { RankweaveError } from '../../errors.js'
import { scalarCode, type TypedArray, typeCode } from '../../messages/datatype/elements.js'
import {
  isOperationName,
  type ReadyOperation,
  readyBigintOperation,
  readyNumberOperation,
  readyOperation,
} from '../../messages/datatype/operation.js'
import { payloadOf } from '../../messages/datatype/payload.js'
import type { ReceiveBuffer } from '../../messages/datatype/strided-view.js'
import { encodeValue } from '../../messages/datatype/value-encoding.js'
import type { CommContext } from '../../messages/process/comm-context.js'
import type { CollectiveName } from '../collective-name.js'
import { deliverData, packedElements } from '../plan/deliver.js'
import { type IntoOptions, intoOf } from '../plan/options.js'
import type { Signature } from '../signature.js'

/**
 * The contribution of one rank: its elements, or the bytes of its value. Ranks without `into` pass the array itself.
 */
export interface ReduceContribution {
  readonly data: TypedArray
  readonly into: ReceiveBuffer | undefined
  /** The numbers of all ranks here if they join together with a number each; then this is the only contribution. */
  readonly numbers?: Float64Array
}

/** The facts on which all ranks of one reduction agree. */
export interface Reduction {
  readonly name: CollectiveName
  readonly op: ReadyOperation
  readonly type: number
  /** The number of elements; 1 for a value. */
  readonly countElems: number
  /**
   * The kind of a single number that ranks pass: a number travels as one double, a bigint as a value; null for other
   * data.
   */
  readonly scalar: 'number' | 'bigint' | null
}

/**
 * Returns the reduction that a rank joins, and its contribution. Numbers and bigints with a user-defined operation are
 * values like any other, because that operation may take other values, too.
 *
 * @throws ERR_OP for an operation that the data does not have; ERR_TYPE, ERR_CLONE, ERR_COUNT for data or `into`
 */
export function reductionOf(
  name: CollectiveName,
  data: unknown,
  op: unknown,
  options: IntoOptions | undefined,
): { readonly reduction: Reduction; readonly contribution: ReduceContribution } {
  const into = intoFor(data, options)
  if (isOperationName(op)) {
    if (typeof data === 'number') {
      const type = typeCode.Float64Array
      const reduction = { name, op: readyNumberOperation(op), type, countElems: 1, scalar: 'number' as const }
      return { reduction, contribution: { data: doubleOf(data), into } }
    }
    if (typeof data === 'bigint') {
      const type = typeCode.value
      const reduction = { name, op: readyBigintOperation(op), type, countElems: 1, scalar: 'bigint' as const }
      return { reduction, contribution: { data: encodeValue(data, name), into } }
    }
  }
  const { type, countElems, data: elements } = payloadOf(data, name)
  const reduction = { name, op: readyOperation(op, type, countElems, data), type, countElems, scalar: null }
  return { reduction, contribution: { data: packedElements(elements), into } }
}

/** @throws ERR_TYPE for an `into` that is not a buffer, or that a number or bigint cannot fill */
export function intoFor(data: unknown, options: IntoOptions | undefined): ReceiveBuffer | undefined {
  const into = intoOf(options)
  if (into !== undefined && (typeof data === 'number' || typeof data === 'bigint'))
    throw new RankweaveError('ERR_TYPE', `into takes the elements of arrays, the data is a ${typeof data}`)
  return into
}

export function doubleOf(value: number): Float64Array {
  const double = new Float64Array(1)
  double[0] = value
  return double
}

/** Returns what ranks compare before they reduce. A number differs from an array of one element. */
export function signatureOf(
  { name, op, type, countElems, scalar }: Reduction,
  more: { root?: number; extra?: number; method?: string } = {},
): Signature {
  if (scalar !== null) return { name, op: op.name, type: scalarCode[scalar], ...more }
  return { name, op: op.name, type, ...(type === typeCode.value ? {} : { count: countElems }), ...more }
}

/** Returns one rank's result: elements in its own array or `into`, or the number or value that they stand for. */
export function deliverResult(
  state: CommContext,
  { type, scalar }: Reduction,
  data: TypedArray,
  into: ReceiveBuffer | undefined,
): unknown {
  return scalar === 'number' ? data[0] : deliverData(state, type, data, into)
}
