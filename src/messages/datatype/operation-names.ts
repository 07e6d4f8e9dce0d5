import type { TypedArray } from './elements.js'

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

export function isBitwise(op: OperationName): op is BitwiseOperation {
  return op === 'band' || op === 'bor' || op === 'bxor'
}

export function isPairOperation(op: OperationName): op is PairOperation {
  return op === 'minloc' || op === 'maxloc'
}
