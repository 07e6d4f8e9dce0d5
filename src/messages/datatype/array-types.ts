import type { TypedArray } from './elements.js'

interface Arrays {
  Int8Array: Int8Array
  Uint8Array: Uint8Array
  Uint8ClampedArray: Uint8ClampedArray
  Int16Array: Int16Array
  Uint16Array: Uint16Array
  Int32Array: Int32Array
  Uint32Array: Uint32Array
  Float32Array: Float32Array
  Float64Array: Float64Array
  BigInt64Array: BigInt64Array
  BigUint64Array: BigUint64Array
}

interface FreshArrays {
  Int8Array: Int8Array<ArrayBuffer>
  Uint8Array: Uint8Array<ArrayBuffer>
  Uint8ClampedArray: Uint8ClampedArray<ArrayBuffer>
  Int16Array: Int16Array<ArrayBuffer>
  Uint16Array: Uint16Array<ArrayBuffer>
  Int32Array: Int32Array<ArrayBuffer>
  Uint32Array: Uint32Array<ArrayBuffer>
  Float32Array: Float32Array<ArrayBuffer>
  Float64Array: Float64Array<ArrayBuffer>
  BigInt64Array: BigInt64Array<ArrayBuffer>
  BigUint64Array: BigUint64Array<ArrayBuffer>
}

/** An array with the element type of `T`, over any memory: it fits `into`, and operations get it. */
export type SameElements<T extends TypedArray> = Arrays[T[typeof Symbol.toStringTag]]

/**
 * The array that a call allocates for elements of `T`: a Buffer comes back as Uint8Array, shared memory as ordinary
 * memory.
 */
export type FreshArray<T extends TypedArray> = FreshArrays[T[typeof Symbol.toStringTag]]
