import { bytesOf } from '../../base/bytes.js'
import { wrongValue } from '../../errors.js'
import {
  elementSizeBytes,
  elementsIn,
  requireIntact,
  type TypedArray,
} from '../../messages/datatype/elements.js'
import type { ProcessProgram } from '../../schedule/lower/program.js'
import { copyOf } from '../exchange/exchange.js'
import type { ProgramStore } from '../program/run-program.js'

/**
 * The values of a program that combines nothing, during one call, in one arena: value v is `length[v]` words from
 * `start[v]` on. If all lengths are known from the start, values lie in their order. Otherwise they become known as
 * frames arrive, in any order.
 *
 * A frame is the words of its values one after another. If the store does not know lengths, the numbers of words
 * precede them, as 32-bit integers, padded to a multiple of 8 bytes.
 */
export class BlockStore implements ProgramStore {
  /** Whether all lengths are known, so that frames do not carry them. */
  readonly sized: boolean
  readonly elementSizeBytes: number
  readonly start: Int32Array
  readonly length: Int32Array
  words: Words
  /** The number of words in use. */
  #used = 0
  readonly #program: ProcessProgram
  readonly #landings: readonly Uint8Array[]

  private constructor(
    program: ProcessProgram,
    elementSizeBytes: number,
    lengths: Int32Array | null,
    expectedWords: number,
  ) {
    const values = program.valueTerm.length
    this.elementSizeBytes = elementSizeBytes
    this.#program = program
    this.sized = lengths !== null
    this.start = new Int32Array(values)
    this.length = lengths ?? new Int32Array(values)
    for (let v = 0; v < values; v++) {
      this.start[v] = this.#used
      this.#used += this.length[v]
      checkTotal(this.#used)
    }
    this.words = newWords(elementSizeBytes, Math.max(this.#used, expectedWords))
    const { valueStart, peer } = program.receive
    const bytes = bytesOf(this.words)
    this.#landings = this.sized
      ? Array.from(peer, (_, frame) =>
          bytes.subarray(this.#byteOf(valueStart[frame]), this.#byteOf(valueStart[frame + 1])),
        )
      : []
  }

  /** Makes a store of values of the given lengths, in words. */
  static of(program: ProcessProgram, elementSizeBytes: number, lengths: ArrayLike<number>): BlockStore {
    return new BlockStore(program, elementSizeBytes, Int32Array.from(lengths), 0)
  }

  /**
   * Makes a store of values whose lengths arrive with them.
   *
   * @param ownWords the words of the contributed values; memory is allocated as if the other values had the same mean
   *   length, and grows
   */
  static open(program: ProcessProgram, elementSizeBytes: number, ownWords = 0): BlockStore {
    const { valueTerm, ownStart, ranks } = program
    const mean = ownWords / Math.max(1, ownStart[ranks.length])
    return new BlockStore(
      program,
      elementSizeBytes,
      null,
      Math.min(Math.ceil(mean * valueTerm.length), mostExpected),
    )
  }

  /** Gives a value its length and its place. Without known lengths it is called once per value, in any order. */
  extend(value: number, length: number): void {
    const end = this.#used + length
    checkTotal(end)
    this.start[value] = this.#used
    this.length[value] = length
    if (end > this.words.length) {
      const grown = newWords(this.elementSizeBytes, Math.max(end, 2 * this.words.length))
      grown.set(this.words.subarray(0, this.#used))
      this.words = grown
    }
    this.#used = end
  }

  /** Writes a value, whose length is known, from `from[fromAt]` on. */
  put(value: number, from: Words, fromAt = 0): void {
    requireIntact(from)
    copyWords(from, fromAt, this.words, this.start[value], this.length[value])
  }

  pack(frame: number): Uint8Array {
    const { valueStart, value } = this.#program.send
    const { words: arena, start, length, sized, elementSizeBytes } = this
    const from = valueStart[frame]
    const to = valueStart[frame + 1]
    const headWords = sized ? 0 : lengthWords(to - from, elementSizeBytes)
    let total = headWords
    for (let i = from; i < to; i++) total += length[value[i]]
    const words = newWords(elementSizeBytes, total)
    if (!sized) {
      const lengths = new Int32Array(words.buffer, 0, to - from)
      for (let i = from; i < to; i++) lengths[i - from] = length[value[i]]
    }
    let at = headWords
    for (let i = from; i < to; i++) {
      const v = value[i]
      copyWords(arena, start[v], words, at, length[v])
      at += length[v]
    }
    return new Uint8Array(words.buffer, 0, words.byteLength)
  }

  landing(frame: number): Uint8Array | undefined {
    return this.#landings[frame]
  }

  unpack(frame: number, arrived: Uint8Array, owned: boolean): void {
    const { valueStart } = this.#program.receive
    const from = valueStart[frame]
    const to = valueStart[frame + 1]
    // Lent bytes may be unaligned.
    const bytes = owned ? arrived : copyOf(arrived)
    const words: Words =
      this.elementSizeBytes >= 4
        ? new Int32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength >>> 2)
        : bytes
    const lengths = new Int32Array(bytes.buffer, bytes.byteOffset, to - from)
    const first = this.#used
    for (let v = from; v < to; v++) this.extend(v, lengths[v - from])
    copyWords(words, lengthWords(to - from, this.elementSizeBytes), this.words, first, this.#used - first)
  }

  combine(): void {}

  /** Returns the byte at which a value begins, or the last one ends. */
  #byteOf(value: number): number {
    const word = value < this.start.length ? this.start[value] : this.#used
    return this.elementSizeBytes >= 4 ? 4 * word : word
  }
}

/** The most words that are allocated before they are needed: 4 MiB, or 1 MiB of single bytes. */
const mostExpected = 2 ** 20

/** Returns the number of words, of elements of this size, that the lengths of so many values take. */
function lengthWords(values: number, elementSizeBytes: number): number {
  const sizeBytes = (4 * values + 7) & ~7
  return elementSizeBytes >= 4 ? sizeBytes >>> 2 : sizeBytes
}

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
