import { type TypedArray, typeCode } from './elements.js'

/**
 * Built-in reductions (MPI-4.1 §6.9.2), element by element.
 *
 * - Integers wrap at the width of their type, as in C; `Uint8ClampedArray` saturates, as its stores do.
 * - `min` and `max`: NaN if either is NaN; -0 is less than +0.
 * - `land`, `lor`, `lxor` give 0 or 1; everything but 0 is true, NaN included.
 * - `band`, `bor`, `bxor` exist on integers only.
 * - `minloc`, `maxloc` work on interleaved (value, index) pairs; of equal values the lower index wins, and NaN wins
 *   over every number.
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

export function isOperationName(op: unknown): op is OperationName {
  return (operationNames as readonly unknown[]).includes(op)
}

/** `out[i] = left[i] op right[i]`; `out` may be either operand. All three have one type and length. */
export type Kernel = (out: TypedArray, left: TypedArray, right: TypedArray) => void

/** The kernel of an operation on elements of a type; undefined where there is none. */
export function builtinKernel(op: OperationName, type: number): Kernel | undefined {
  const isBig = type === typeCode.BigInt64Array || type === typeCode.BigUint64Array
  const isFloat = type === typeCode.Float32Array || type === typeCode.Float64Array
  if (isFloat && (op === 'band' || op === 'bor' || op === 'bxor')) return undefined
  if (isBig) return bigKernels[op] as Kernel
  // A product of 32-bit integers does not fit a double, so its low bits need a multiplication of integers.
  if (op === 'prod' && (isFloat || type === typeCode.Uint8ClampedArray)) return floatProduct as Kernel
  return numberKernels[op] as Kernel
}

type Numbers = Float64Array
type NumberKernel = (out: Numbers, left: Numbers, right: Numbers) => void
type BigKernel = (out: BigInt64Array, left: BigInt64Array, right: BigInt64Array) => void

// The operations that programs spend time in are loops of their own, so that each is compiled for its types.

function sum(out: Numbers, left: Numbers, right: Numbers): void {
  for (let i = 0; i < out.length; i++) out[i] = left[i]! + right[i]!
}

function floatProduct(out: Numbers, left: Numbers, right: Numbers): void {
  for (let i = 0; i < out.length; i++) out[i] = left[i]! * right[i]!
}

function integerProduct(out: Numbers, left: Numbers, right: Numbers): void {
  for (let i = 0; i < out.length; i++) out[i] = Math.imul(left[i]!, right[i]!)
}

function min(out: Numbers, left: Numbers, right: Numbers): void {
  for (let i = 0; i < out.length; i++) out[i] = Math.min(left[i]!, right[i]!)
}

function max(out: Numbers, left: Numbers, right: Numbers): void {
  for (let i = 0; i < out.length; i++) out[i] = Math.max(left[i]!, right[i]!)
}

function bigSum(out: BigInt64Array, left: BigInt64Array, right: BigInt64Array): void {
  for (let i = 0; i < out.length; i++) out[i] = left[i]! + right[i]!
}

const isTrue = (value: number) => value !== 0

const numberKernels: Readonly<Record<OperationName, NumberKernel>> = {
  sum,
  prod: integerProduct,
  min,
  max,
  land: elementwise((a, b) => Number(isTrue(a) && isTrue(b))),
  lor: elementwise((a, b) => Number(isTrue(a) || isTrue(b))),
  lxor: elementwise((a, b) => Number(isTrue(a) !== isTrue(b))),
  band: elementwise((a, b) => a & b),
  bor: elementwise((a, b) => a | b),
  bxor: elementwise((a, b) => a ^ b),
  minloc: located((a, b) => a < b || (Number.isNaN(a) && !Number.isNaN(b))),
  maxloc: located((a, b) => a > b || (Number.isNaN(a) && !Number.isNaN(b))),
}

const bigKernels: Readonly<Record<OperationName, BigKernel>> = {
  sum: bigSum,
  prod: bigElementwise((a, b) => a * b),
  min: bigElementwise((a, b) => preferred(a < b, a, b)),
  max: bigElementwise((a, b) => preferred(a > b, a, b)),
  land: bigElementwise((a, b) => (a !== 0n && b !== 0n ? 1n : 0n)),
  lor: bigElementwise((a, b) => (a !== 0n || b !== 0n ? 1n : 0n)),
  lxor: bigElementwise((a, b) => ((a !== 0n) !== (b !== 0n) ? 1n : 0n)),
  band: bigElementwise((a, b) => a & b),
  bor: bigElementwise((a, b) => a | b),
  bxor: bigElementwise((a, b) => a ^ b),
  minloc: bigLocated((a, b) => a < b),
  maxloc: bigLocated((a, b) => a > b),
}

function elementwise(combine: (a: number, b: number) => number): NumberKernel {
  return (out, left, right) => {
    for (let i = 0; i < out.length; i++) out[i] = combine(left[i]!, right[i]!)
  }
}

function bigElementwise(combine: (a: bigint, b: bigint) => bigint): BigKernel {
  return (out, left, right) => {
    for (let i = 0; i < out.length; i++) out[i] = combine(left[i]!, right[i]!)
  }
}

function preferred<T>(takeFirst: boolean, first: T, second: T): T {
  return takeFirst ? first : second
}

/** @param wins is a strictly better than b? */
function located(wins: (a: number, b: number) => boolean): NumberKernel {
  return (out, left, right) => {
    for (let i = 0; i + 1 < out.length; i += 2) {
      const takeRight =
        wins(right[i]!, left[i]!) || (!wins(left[i]!, right[i]!) && right[i + 1]! < left[i + 1]!)
      const from = takeRight ? right : left
      const value = from[i]!
      const index = from[i + 1]!
      out[i] = value
      out[i + 1] = index
    }
  }
}

function bigLocated(wins: (a: bigint, b: bigint) => boolean): BigKernel {
  return (out, left, right) => {
    for (let i = 0; i + 1 < out.length; i += 2) {
      const takeRight =
        wins(right[i]!, left[i]!) || (!wins(left[i]!, right[i]!) && right[i + 1]! < left[i + 1]!)
      const from = takeRight ? right : left
      const value = from[i]!
      const index = from[i + 1]!
      out[i] = value
      out[i + 1] = index
    }
  }
}
