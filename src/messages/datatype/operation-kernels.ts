import { type TypedArray, typeCode } from './elements.js'
import { floatKernels, unify } from './float-kernels.js'
import {
  type BitwiseOperation,
  isBitwise,
  type OperationName,
  type PairOperation,
} from './operation-names.js'

/** Computes `out[i] = left[i] op right[i]`; `out` may be either operand. All three have one type and length. */
export type Kernel = (out: TypedArray, left: TypedArray, right: TypedArray) => void

/** Returns the kernel of an operation on elements of a type; undefined if there is none. */
export function builtinKernel(op: OperationName, type: number): Kernel | undefined {
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
export const bigintOperations: Readonly<
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
