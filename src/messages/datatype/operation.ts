import { flagOption, type OptionTable, textOption } from '../../base/option.js'
import { checkOptions } from '../../base/option-table.js'
import { RankweaveError } from '../../errors.js'
import { elementSizeBytes, typeCode, typeName } from './elements.js'
import { bigintOperations, builtinKernel, type Kernel } from './operation-kernels.js'
import { isOperationName, isPairOperation, type OperationName } from './operation-names.js'

/**
 * A user-defined reduction; {@link createOperation} makes one.
 *
 * @see MPI-4.1 §6.9.5 (MPI_Op_create)
 */
export interface Operation<T = unknown> {
  readonly kind: 'operation'
  /** The name that ranks compare to find that they call with different operations. */
  readonly name: string
  /**
   * Whether `left` and `right` may be exchanged. By default reductions combine in rank order, so no operation needs to
   * commute.
   */
  readonly commutative: boolean
  readonly combine: (left: T, right: T) => T | undefined
}

interface OperationOptions {
  readonly name?: string
  readonly commutative?: boolean
}

const operationOptions: OptionTable<OperationOptions> = { name: textOption(), commutative: flagOption() }

/**
 * Makes a reduction out of an associative function. `left` comes from lower ranks than `right`.
 *
 * On typed arrays both arguments have the same type and length. The function returns the combined array: `left`, which
 * it may overwrite for that, or a fresh one of the same type and length; returning nothing means `left`. On other
 * values it returns the combined value, which must be structured-cloneable; it may build on both arguments. It must not
 * change `right`, must not wait, and must give equal results on all processes.
 *
 * Defaults: `name` is the function's own name; not commutative.
 *
 * @throws ERR_OP unless `combine` is a function; ERR_ARGUMENT for options that it does not have
 * @see MPI-4.1 §6.9.5
 */
export function createOperation<T>(
  combine: (left: T, right: T) => T | undefined,
  options: OperationOptions = {},
): Operation<T> {
  if (typeof combine !== 'function')
    throw new RankweaveError('ERR_OP', `an operation needs a function of two values, got ${typeof combine}`)
  checkOptions('createOperation', operationOptions, options)
  const { name = combine.name || 'anonymous', commutative = false } = options
  return { kind: 'operation', name, commutative, combine }
}

/** An operation that fits the data with which it is called. */
export type ReadyOperation =
  | { readonly kind: 'kernel'; readonly name: string; readonly kernel: Kernel }
  | {
      readonly kind: 'function'
      readonly name: string
      readonly commutative: boolean
      readonly combine: Operation['combine']
    }

/**
 * @param type wire code of the elements
 * @param data what was passed, for messages
 * @throws ERR_OP for an unknown operation, or one that elements of this type do not have
 * @throws ERR_COUNT for minloc and maxloc on an odd number of elements
 */
export function readyOperation(
  op: unknown,
  type: number,
  countElems: number,
  data?: unknown,
): ReadyOperation {
  if (isOperation(op))
    return { kind: 'function', name: op.name, commutative: op.commutative, combine: op.combine }
  if (!isOperationName(op)) {
    const got = typeof op === 'string' ? `'${op}'` : typeof op
    const message = `expected the name of an operation or the result of createOperation, got ${got}`
    throw new RankweaveError('ERR_OP', message)
  }
  if (type === typeCode.value) {
    const message = `${op} works on numbers, bigints and typed arrays, got ${kindOf(data)}; for other values pass an operation made by createOperation`
    throw new RankweaveError('ERR_OP', message)
  }
  return { kind: 'kernel', name: op, kernel: kernelFor(op, type, countElems) }
}

function kindOf(data: unknown): string {
  if (data === undefined || data === null) return `${data}`
  if (Array.isArray(data)) return 'an array'
  return typeof data === 'object' ? 'an object' : `a ${typeof data}`
}

/** @throws ERR_OP for an operation that a single number does not have */
export function readyNumberOperation(op: OperationName): ReadyOperation {
  const kernel = isPairOperation(op) ? undefined : builtinKernel(op, typeCode.Float64Array)
  if (kernel === undefined) throw undefinedOn(op, 'a number')
  return { kind: 'kernel', name: op, kernel }
}

/** @throws ERR_OP for an operation that a single bigint does not have */
export function readyBigintOperation(op: OperationName): ReadyOperation {
  if (isPairOperation(op)) throw undefinedOn(op, 'a bigint')
  return {
    kind: 'function',
    name: op,
    commutative: true,
    combine: bigintOperations[op] as Operation['combine'],
  }
}

function kernelFor(op: OperationName, type: number, countElems: number): Kernel {
  const kernel = builtinKernel(op, type)
  if (kernel === undefined) throw undefinedOn(op, `the elements of a ${typeName(type)}`)
  if (isPairOperation(op) && countElems % 2 !== 0) {
    throw new RankweaveError(
      'ERR_COUNT',
      `${op} works on (value, index) pairs, got ${countElems} elements of ${elementSizeBytes(type)} bytes`,
    )
  }
  return kernel
}

function undefinedOn(op: OperationName, what: string): RankweaveError {
  return new RankweaveError('ERR_OP', `${op} is not defined on ${what}`)
}

function isOperation(op: unknown): op is Operation {
  if (typeof op !== 'object' || op === null) return false
  const { kind, name, combine } = op as Partial<Operation>
  return kind === 'operation' && typeof name === 'string' && typeof combine === 'function'
}
