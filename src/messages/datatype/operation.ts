import { flagOption, type OptionTable, textOption } from '../../base/option.js'
import { checkOptions } from '../../base/option-table.js'
import { RankweaveError, withArticle } from '../../errors.js'
import { elementSizeBytes, type TypedArray, typeCode, typeName } from './elements.js'

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
    const message = `expected ${operationNames.join(', ')} or the result of createOperation, got ${got}`
    throw new RankweaveError('ERR_OP', message)
  }
  if (type === typeCode.value) {
    const instead = Array.isArray(data)
      ? 'pass a Float64Array'
      : 'for other values pass an operation made by createOperation'
    const message = `${op} works on numbers, bigints and typed arrays, got ${kindOf(data)}; ${instead}`
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
  if (kernel === undefined) throw undefinedOn(op, `the elements of ${withArticle(typeName(type))}`)
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

/**
 * The built-in reductions (MPI-4.1 §6.9.2): of numbers, of bigints, and of typed arrays element by element.
 *
 * - `sum`, `prod`, `min`, `max` of every type. Integers in arrays wrap at the width of their type, as in C;
 *   `Uint8ClampedArray` saturates, as its stores do; a bigint has any size. `min` and `max` are NaN if either is NaN,
 *   and -0 is less than +0.
 * - `land`, `lor`, `lxor` of every type give 0 or 1; everything but 0 is true, NaN included.
 * - `band`, `bor`, `bxor` of integers: bigints and arrays of integers. A number is a double, so it has none.
 * - `minloc`, `maxloc` of arrays of interleaved (value, index) pairs; of equal values the lower index wins, and NaN
 *   wins over every number.
 *
 * A NaN that an operation returns has the bits of `Number.NaN`, whatever those of its operands. The bits of a result
 * thus do not depend on fabric or layout.
 */
export type OperationName = (typeof operationNames)[number]

export const operationNames = [
  'sum',
  'prod',
  'min',
  'max',
  'land',
  'lor',
  'lxor',
  'band',
  'bor',
  'bxor',
  'minloc',
  'maxloc',
] as const

/** The operations on integers only. */
export type BitwiseOperation = 'band' | 'bor' | 'bxor'

/** The operations on (value, index) pairs. */
export type PairOperation = 'minloc' | 'maxloc'

/** The operations that a number has. */
export type NumberOperation = Exclude<OperationName, BitwiseOperation | PairOperation>

/** The operations that a bigint has. */
export type BigintOperation = Exclude<OperationName, PairOperation>

/** The operations that the elements of an array of type `T` have; for several types, those that all of them have. */
export type ElementOperation<T extends TypedArray> = [Extract<T, Float32Array | Float64Array>] extends [never]
  ? OperationName
  : Exclude<OperationName, BitwiseOperation>

export function isOperationName(op: unknown): op is OperationName {
  return (operationNames as readonly unknown[]).includes(op)
}

function isBitwise(op: OperationName): op is BitwiseOperation {
  return op === 'band' || op === 'bor' || op === 'bxor'
}

function isPairOperation(op: OperationName): op is PairOperation {
  return op === 'minloc' || op === 'maxloc'
}

/** Computes `out[i] = left[i] op right[i]`; `out` may be either operand. All three have one type and length. */
export type Kernel = (out: TypedArray, left: TypedArray, right: TypedArray) => void

/** Returns the kernel of an operation on elements of a type; undefined if there is none. */
function builtinKernel(op: OperationName, type: number): Kernel | undefined {
  const isBig = type === typeCode.BigInt64Array || type === typeCode.BigUint64Array
  const isFloat = type === typeCode.Float32Array || type === typeCode.Float64Array
  if (isFloat) return isBitwise(op) ? undefined : (floatOperations[op] as Kernel)
  if (isBig) return bigKernels[op] as Kernel
  // A product of 32-bit integers does not fit a double, so its low bits need a multiplication of integers.
  if (op === 'prod' && type === typeCode.Uint8ClampedArray) return clampedProduct as Kernel
  return integerKernels[op] as Kernel
}

type Numbers = Float64Array
type NumberKernel = (out: Numbers, left: Numbers, right: Numbers) => void
type BigKernel = (out: BigInt64Array, left: BigInt64Array, right: BigInt64Array) => void

// The operations that programs spend time in are separate loops, so that each is compiled for its types.

function sum(out: Numbers, left: Numbers, right: Numbers): void {
  for (let i = 0; i < out.length; i++) out[i] = left[i] + right[i]
}

function clampedProduct(out: Numbers, left: Numbers, right: Numbers): void {
  for (let i = 0; i < out.length; i++) out[i] = left[i] * right[i]
}

function integerProduct(out: Numbers, left: Numbers, right: Numbers): void {
  for (let i = 0; i < out.length; i++) out[i] = Math.imul(left[i], right[i])
}

function min(out: Numbers, left: Numbers, right: Numbers): void {
  for (let i = 0; i < out.length; i++) out[i] = Math.min(left[i], right[i])
}

function max(out: Numbers, left: Numbers, right: Numbers): void {
  for (let i = 0; i < out.length; i++) out[i] = Math.max(left[i], right[i])
}

function bigSum(out: BigInt64Array, left: BigInt64Array, right: BigInt64Array): void {
  for (let i = 0; i < out.length; i++) out[i] = left[i] + right[i]
}

const isTrue = (value: number) => value !== 0

const logical = {
  land: elementwise((a, b) => Number(isTrue(a) && isTrue(b))),
  lor: elementwise((a, b) => Number(isTrue(a) || isTrue(b))),
  lxor: elementwise((a, b) => Number(isTrue(a) !== isTrue(b))),
}

const floatKernels: Readonly<Record<'sum' | 'prod' | 'min' | 'max', FloatKernel>> = {
  sum: floatSum,
  prod: product,
  min: floatMin,
  max: floatMax,
}

const floatOperations: Readonly<Record<Exclude<OperationName, BitwiseOperation>, NumberKernel>> = {
  ...floatKernels,
  ...logical,
  minloc: located((a, b) => a < b || (Number.isNaN(a) && !Number.isNaN(b))),
  maxloc: located((a, b) => a > b || (Number.isNaN(a) && !Number.isNaN(b))),
}

const integerKernels: Readonly<Record<OperationName, NumberKernel>> = {
  sum,
  prod: integerProduct,
  min,
  max,
  ...logical,
  band: elementwise((a, b) => a & b),
  bor: elementwise((a, b) => a | b),
  bxor: elementwise((a, b) => a ^ b),
  minloc: located((a, b) => a < b),
  maxloc: located((a, b) => a > b),
}

/** The built-in reductions of two bigints, which have any size: no result wraps. */
const bigintOperations: Readonly<
  Record<Exclude<OperationName, PairOperation>, (a: bigint, b: bigint) => bigint>
> = {
  sum: (a, b) => a + b,
  prod: (a, b) => a * b,
  min: (a, b) => (a < b ? a : b),
  max: (a, b) => (a > b ? a : b),
  land: (a, b) => (a !== 0n && b !== 0n ? 1n : 0n),
  lor: (a, b) => (a !== 0n || b !== 0n ? 1n : 0n),
  lxor: (a, b) => ((a !== 0n) !== (b !== 0n) ? 1n : 0n),
  band: (a, b) => a & b,
  bor: (a, b) => a | b,
  bxor: (a, b) => a ^ b,
}

const bigKernels: Readonly<Record<OperationName, BigKernel>> = {
  sum: bigSum,
  prod: bigElementwise(bigintOperations.prod),
  min: bigElementwise(bigintOperations.min),
  max: bigElementwise(bigintOperations.max),
  land: bigElementwise(bigintOperations.land),
  lor: bigElementwise(bigintOperations.lor),
  lxor: bigElementwise(bigintOperations.lxor),
  band: bigElementwise(bigintOperations.band),
  bor: bigElementwise(bigintOperations.bor),
  bxor: bigElementwise(bigintOperations.bxor),
  minloc: bigLocated((a, b) => a < b),
  maxloc: bigLocated((a, b) => a > b),
}

function elementwise(combine: (a: number, b: number) => number): NumberKernel {
  return (out, left, right) => {
    for (let i = 0; i < out.length; i++) out[i] = combine(left[i], right[i])
  }
}

function bigElementwise(combine: (a: bigint, b: bigint) => bigint): BigKernel {
  return (out, left, right) => {
    for (let i = 0; i < out.length; i++) out[i] = combine(left[i], right[i])
  }
}

/** @param wins is a strictly better than b? */
function located(wins: (a: number, b: number) => boolean): NumberKernel {
  return (out, left, right) => {
    for (let i = 0; i + 1 < out.length; i += 2) {
      const takeRight = wins(right[i], left[i]) || (!wins(left[i], right[i]) && right[i + 1] < left[i + 1])
      const from = takeRight ? right : left
      const value = from[i]
      const index = from[i + 1]
      out[i] = value
      out[i + 1] = index
      if (Number.isNaN(value + index)) unify(out, i, i + 2)
    }
  }
}

function bigLocated(wins: (a: bigint, b: bigint) => boolean): BigKernel {
  return (out, left, right) => {
    for (let i = 0; i + 1 < out.length; i += 2) {
      const takeRight = wins(right[i], left[i]) || (!wins(left[i], right[i]) && right[i + 1] < left[i + 1])
      const from = takeRight ? right : left
      const value = from[i]
      const index = from[i + 1]
      out[i] = value
      out[i + 1] = index
    }
  }
}

/**
 * Kernels of sums, products, minima and maxima of floats, whose NaN always has the bits of `Number.NaN`.
 *
 * The NaN that the processor returns depends on the order of its operands, which the compiler chooses, and on whether
 * the operation made it. Without this rule the sign bit of a NaN would depend on how often a loop had run. Four
 * elements at a time need one check, since a sum with a NaN is NaN. The loop is faster than one without any check that
 * takes the elements one by one.
 */
type Floats = Float64Array

type FloatKernel = (out: Floats, left: Floats, right: Floats) => void

// Each kernel is a separate loop, so that each is compiled for its types. Stores follow loads: `out` may be an operand.

function floatSum(out: Floats, left: Floats, right: Floats): void {
  const fours = out.length - (out.length % 4)
  for (let i = 0; i < fours; i += 4) {
    const a = left[i] + right[i]
    const b = left[i + 1] + right[i + 1]
    const c = left[i + 2] + right[i + 2]
    const d = left[i + 3] + right[i + 3]
    out[i] = a
    out[i + 1] = b
    out[i + 2] = c
    out[i + 3] = d
    if (Number.isNaN(a + b + (c + d))) unify(out, i, i + 4)
  }
  for (let i = fours; i < out.length; i++) out[i] = left[i] + right[i]
  unify(out, fours, out.length)
}

function product(out: Floats, left: Floats, right: Floats): void {
  const fours = out.length - (out.length % 4)
  for (let i = 0; i < fours; i += 4) {
    const a = left[i] * right[i]
    const b = left[i + 1] * right[i + 1]
    const c = left[i + 2] * right[i + 2]
    const d = left[i + 3] * right[i + 3]
    out[i] = a
    out[i + 1] = b
    out[i + 2] = c
    out[i + 3] = d
    if (Number.isNaN(a + b + (c + d))) unify(out, i, i + 4)
  }
  for (let i = fours; i < out.length; i++) out[i] = left[i] * right[i]
  unify(out, fours, out.length)
}

function floatMin(out: Floats, left: Floats, right: Floats): void {
  const fours = out.length - (out.length % 4)
  for (let i = 0; i < fours; i += 4) {
    const a = Math.min(left[i], right[i])
    const b = Math.min(left[i + 1], right[i + 1])
    const c = Math.min(left[i + 2], right[i + 2])
    const d = Math.min(left[i + 3], right[i + 3])
    out[i] = a
    out[i + 1] = b
    out[i + 2] = c
    out[i + 3] = d
    if (Number.isNaN(a + b + (c + d))) unify(out, i, i + 4)
  }
  for (let i = fours; i < out.length; i++) out[i] = Math.min(left[i], right[i])
  unify(out, fours, out.length)
}

function floatMax(out: Floats, left: Floats, right: Floats): void {
  const fours = out.length - (out.length % 4)
  for (let i = 0; i < fours; i += 4) {
    const a = Math.max(left[i], right[i])
    const b = Math.max(left[i + 1], right[i + 1])
    const c = Math.max(left[i + 2], right[i + 2])
    const d = Math.max(left[i + 3], right[i + 3])
    out[i] = a
    out[i + 1] = b
    out[i + 2] = c
    out[i + 3] = d
    if (Number.isNaN(a + b + (c + d))) unify(out, i, i + 4)
  }
  for (let i = fours; i < out.length; i++) out[i] = Math.max(left[i], right[i])
  unify(out, fours, out.length)
}

/** Gives every NaN of a stretch the bits of `Number.NaN`. */
function unify(values: Floats, from: number, to: number): void {
  for (let i = from; i < to; i++) if (Number.isNaN(values[i])) values[i] = Number.NaN
}
