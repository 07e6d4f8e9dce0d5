// Reductions: built-in operations fit the type of the data, which comes back. Type-checked, never run.
import {
  type BigintOperation,
  type Communicator,
  createOperation,
  type ElementOperation,
  type NumberOperation,
  type OperationName,
  strided,
} from 'rankweave'
import { type Equal, expectType, type Json } from './support.js'

declare const world: Communicator
declare const json: Json
declare const doubles: Float64Array
declare const integers: Int32Array
declare const either: Float64Array | Int32Array
type Doubles = Float64Array<ArrayBuffer>

const merge = createOperation((a: Json, b: Json): Json => ({ ...a, ...b }))
const larger = createOperation((a: number, b: number) => (a > b ? a : b), { name: 'larger' })
const addAll = createOperation((a: Float64Array, b: Float64Array) => {
  for (let i = 0; i < a.length; i++) a[i] = a[i] + b[i]
  return undefined
})

export async function numbers(): Promise<void> {
  const sum = await world.allreduce(world.rank, 'sum')
  expectType<Equal<typeof sum, number>>(true)
  const big = await world.allreduce(1n, 'bxor')
  expectType<Equal<typeof big, bigint>>(true)
  const atRoot = await world.reduce(1.5, 'max', 1)
  expectType<Equal<typeof atRoot, number | null>>(true)
  expectType<Equal<Awaited<ReturnType<typeof scanned>>, readonly [number, bigint]>>(true)
  expectType<Equal<Awaited<ReturnType<typeof before>>, readonly [number | null, bigint | null]>>(true)
  const own = await world.allreduce(3, larger)
  expectType<Equal<typeof own, number>>(true)

  // @ts-expect-error a number is a double: it has no bits
  await world.allreduce(1, 'band')
  // @ts-expect-error pairs are in arrays
  await world.reduce(1, 'minloc')
  // @ts-expect-error numbers fill no array
  await world.allreduce(1, 'sum', { into: doubles })
  // @ts-expect-error no such operation
  await world.exscan(1, 'average')
  // @ts-expect-error blocks are of arrays
  await world.reduceScatter(1, 'sum')
}

const scanned = async () => [await world.scan(1, 'sum'), await world.scan(1n, 'sum')] as const
const before = async () => [await world.exscan(1, 'sum'), await world.exscan(1n, 'sum')] as const

export async function arrays(): Promise<void> {
  const view = strided(doubles, { count: 1, blockLength: 1, stride: 1 })
  const sum = await world.allreduce(doubles, 'sum')
  expectType<Equal<typeof sum, Doubles>>(true)
  const filled = await world.allreduce(view, 'minloc', { into: doubles })
  expectType<Equal<typeof filled, Float64Array>>(true)
  const bits = await world.scan(integers, 'band')
  expectType<Equal<typeof bits, Int32Array<ArrayBuffer>>>(true)
  const first = await world.exscan(view, 'max')
  expectType<Equal<typeof first, Doubles | null>>(true)
  const atRoot = await world.reduce(integers, 'lxor', 2)
  expectType<Equal<typeof atRoot, Int32Array<ArrayBuffer> | null>>(true)
  const block = await world.reduceScatter(doubles, addAll, { counts: [1, 2] })
  expectType<Equal<typeof block, Doubles>>(true)
  await world.allreduce(either, 'sum')

  // @ts-expect-error floats have no bits
  await world.allreduce(doubles, 'bor')
  // @ts-expect-error nor have what may be floats
  await world.allreduce(either, 'bor')
  // @ts-expect-error nor views of them
  await world.scan(view, 'bxor')
  // @ts-expect-error an operation on floats
  await world.reduce(integers, addAll)
  // @ts-expect-error an operation on numbers, not on arrays of them
  await world.reduceScatter(doubles, larger)
  // @ts-expect-error another element type
  await world.allreduce(doubles, 'sum', { into: integers })
}

export async function values(): Promise<void> {
  const merged = await world.allreduce(json, merge)
  expectType<Equal<typeof merged, Json>>(true)
  const below = await world.exscan(json, merge)
  expectType<Equal<typeof below, Json | null>>(true)

  // @ts-expect-error built-in operations do not know objects
  await world.allreduce(json, 'sum')
  // @ts-expect-error nor arrays of numbers
  await world.exscan([1, 2], 'sum')
  // @ts-expect-error an operation on other values
  await world.allreduce('text', merge)
}

export function names(): void {
  expectType<Equal<NumberOperation, 'sum' | 'prod' | 'min' | 'max' | 'land' | 'lor' | 'lxor'>>(true)
  expectType<Equal<BigintOperation, NumberOperation | 'band' | 'bor' | 'bxor'>>(true)
  expectType<Equal<ElementOperation<Uint8ClampedArray>, OperationName>>(true)
  expectType<Equal<ElementOperation<Float32Array>, NumberOperation | 'minloc' | 'maxloc'>>(true)
}
