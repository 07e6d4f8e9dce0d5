import { wrongValue } from '../../errors.js'
import { elementSizeBytes, elementsIn, type TypedArray } from '../../messages/datatype/elements.js'

/**
 * The memory of a typed array in units that are copied alike for all element types: 32-bit words, or bytes for elements
 * below 4 bytes. Two kinds of array instead of eleven keep the copy loops fast, and integers preserve every bit of a
 * NaN.
 */
export type Words = Int32Array | Uint8Array

export function wordViewOf(array: TypedArray): Words {
  return array.BYTES_PER_ELEMENT >= 4
    ? new Int32Array(array.buffer, array.byteOffset, array.byteLength >>> 2)
    : new Uint8Array(array.buffer, array.byteOffset, array.byteLength)
}

/** Returns the number of words of one element of this size. */
export function wordsPerElement(elementSizeBytes: number): number {
  return elementSizeBytes >= 4 ? elementSizeBytes >>> 2 : elementSizeBytes
}

/** Allocates memory in words, for elements of this size. */
export function newWords(elementSizeBytes: number, count: number): Words {
  return elementSizeBytes >= 4 ? new Int32Array(count) : new Uint8Array(count)
}

/** Buffers of at most this many words are filled side by side, or in memory that is reused, and then copied. */
export const smallWords = 96

/** Copies of fewer words are faster by a loop than by `set` of a `subarray`. */
export const setWords = 96

export function copyWords(from: Words, fromAt: number, to: Words, toAt: number, count: number): void {
  if (count >= setWords) to.set(from.subarray(fromAt, fromAt + count), toAt)
  else for (let i = 0; i < count; i++) to[toAt + i] = from[fromAt + i]
}

/** @throws ERR_COUNT for more words than a store holds */
export function checkTotal(words: number): void {
  if (words > 0x7fffffff) {
    const expected = 'the blocks of one process may have at most 2^31 - 1 words in one call'
    throw wrongValue('ERR_COUNT', expected, words)
  }
}

/** Returns the number of words, as stores count them, of one element of a type. */
export function elementWords(type: number): number {
  return wordsPerElement(elementSizeBytes(type))
}

/** Returns the memory of words as elements of a type that fill them. */
export function elementsOver(type: number, { buffer, byteOffset, byteLength }: Words): TypedArray {
  return elementsIn(type, new Uint8Array(buffer, byteOffset, byteLength))
}
