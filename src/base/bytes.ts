import { bufferFill } from './node-process.js'

/** The memory of a view, whatever its class reports. */
interface Extent {
  readonly buffer: ArrayBuffer
  readonly byteOffset: number
  readonly byteLength: number
  /** The number of elements; for a DataView that of bytes. */
  readonly length: number
}

type Getter = (this: ArrayBufferView) => unknown

const typedArray = Object.getPrototypeOf(Uint8Array.prototype) as object
const getterOf = (prototype: object, name: PropertyKey) =>
  Object.getOwnPropertyDescriptor(prototype, name)!.get as Getter
const tagOf = getterOf(typedArray, Symbol.toStringTag)
const bufferOf = getterOf(typedArray, 'buffer')
const byteOffsetOf = getterOf(typedArray, 'byteOffset')
const byteLengthOf = getterOf(typedArray, 'byteLength')
const lengthOf = getterOf(typedArray, 'length')
const viewBufferOf = getterOf(DataView.prototype, 'buffer')
const viewOffsetOf = getterOf(DataView.prototype, 'byteOffset')
const viewLengthOf = getterOf(DataView.prototype, 'byteLength')

/**
 * Returns the name of the class that made a typed array, across realms, whatever it reports or inherits now. It is
 * `Uint8Array` for a Buffer, undefined for other values.
 */
export function typedArrayName(value: unknown): string | undefined {
  return tagOf.call(value as ArrayBufferView) as string | undefined
}

/** Reads the extent by the getters of %TypedArray% and DataView, because a subclass may override the properties. */
export function extentOf(view: ArrayBufferView): Extent {
  if (tagOf.call(view) === undefined) {
    const byteLength = viewLengthOf.call(view) as number
    return {
      buffer: viewBufferOf.call(view) as ArrayBuffer,
      byteOffset: viewOffsetOf.call(view) as number,
      byteLength,
      length: byteLength,
    }
  }
  return {
    buffer: bufferOf.call(view) as ArrayBuffer,
    byteOffset: byteOffsetOf.call(view) as number,
    byteLength: byteLengthOf.call(view) as number,
    length: lengthOf.call(view) as number,
  }
}

/** Returns the bytes of a typed array, not copied. */
export function bytesOf(array: ArrayBufferView): Uint8Array {
  if (Object.getPrototypeOf(array) === Uint8Array.prototype && typedArrayName(array) === 'Uint8Array')
    return array as Uint8Array
  const { buffer, byteOffset, byteLength } = extentOf(array)
  return new Uint8Array(buffer, byteOffset, byteLength)
}

/** Whether a value is a SharedArrayBuffer; browsers have those on some pages only. */
export function isSharedMemory(value: unknown): value is SharedArrayBuffer {
  return typeof SharedArrayBuffer !== 'undefined' && value instanceof SharedArrayBuffer
}

/** Rounds a size up to a multiple. */
export function roundUp(sizeBytes: number, multiple: number): number {
  return Math.ceil(sizeBytes / multiple) * multiple
}

/** Whether two arrays have bytes in common. */
export function overlap(a: ArrayBufferView, b: ArrayBufferView): boolean {
  return (
    a.buffer === b.buffer &&
    a.byteOffset < b.byteOffset + b.byteLength &&
    b.byteOffset < a.byteOffset + a.byteLength
  )
}

/**
 * Returns the 32-bit words of bytes that start at a multiple of 4 in their buffer, as those of a frame do; not copied.
 */
export function wordsOf(bytes: Uint8Array): Int32Array {
  return new Int32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength >>> 2)
}

/**
 * Copies `source` to `target` from `at` on; the two do not overlap. `TypedArray.set` copies to and from shared memory
 * word by word, and byte by byte when their alignments differ; `Buffer.fill` with an array as pattern is one `memcpy`,
 * but browsers do not have it.
 */
export function copyBytes(target: Uint8Array, at: number, source: Uint8Array): void {
  const size = source.byteLength
  if (size <= smallBytes) for (let i = 0; i < size; i++) target[at + i] = source[i]
  else if (size < filledFromBytes || bufferFill === undefined) target.set(source, at)
  else bufferFill.call(target, source, at, at + size)
}

/** A loop is faster than any call for so many bytes, or fewer. */
const smallBytes = 32
/** The call into native code costs more than it saves for fewer bytes. */
const filledFromBytes = 2048

/** Returns the nearest power of two; 0 for 0. */
export function sizeClass(bytes: number): number {
  if (bytes === 0) return 0
  let power = 1
  while (3 * power < 2 * bytes) power *= 2
  return power
}
