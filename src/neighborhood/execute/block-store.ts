import { copyOf } from '../../comm/calls/exchange.js'
import type { ProcessProgram } from '../../schedule/lower/lower.js'
import type { FrameStore } from './frame-store.js'
import { checkTotal, copyWords, newWords, type Words } from './memory-words.js'

/**
 * The values of a lowered program during one call, side by side in one arena: value v is `words[start[v]]` up to
 * `start[v + 1]`. Either all lengths are known from the start, or they become known value by value, in order, as frames
 * arrive.
 *
 * A frame is the words of its values one after another; where the store does not know lengths, they are preceded by the
 * number of words of each, as 32-bit integers, padded to a multiple of 8 bytes.
 */
export class BlockStore implements FrameStore {
  /** Whether all lengths are known, so that frames do not carry them. */
  readonly sized: boolean
  readonly elementSizeBytes: number
  /** Valid up to and including the entry after the last known value. */
  readonly start: Int32Array
  words: Words
  #known: number

  readonly #program: ProcessProgram

  private constructor(program: ProcessProgram, elementSizeBytes: number, start: Int32Array, sized: boolean) {
    this.elementSizeBytes = elementSizeBytes
    this.start = start
    this.#program = program
    this.sized = sized
    this.#known = sized ? start.length - 1 : 0
    this.words = newWords(elementSizeBytes, sized ? start[start.length - 1] : 0)
  }

  /** Values of the given lengths, in words. */
  static of(program: ProcessProgram, elementSizeBytes: number, lengths: ArrayLike<number>): BlockStore {
    const start = new Int32Array(lengths.length + 1)
    let total = 0
    for (let v = 0; v < lengths.length; v++) {
      total += lengths[v]
      checkTotal(total)
      start[v + 1] = total
    }
    return new BlockStore(program, elementSizeBytes, start, true)
  }

  /** Values whose lengths arrive with them. */
  static open(program: ProcessProgram, elementSizeBytes: number): BlockStore {
    const values = program.valueBlock.length
    return new BlockStore(program, elementSizeBytes, new Int32Array(values + 1), false)
  }

  lengthOf(value: number): number {
    return this.start[value + 1] - this.start[value]
  }

  /** Gives a value its length, the next in order, where lengths are not known; else checks nothing. */
  extend(value: number, length: number): void {
    if (value !== this.#known) return
    const end = this.start[value] + length
    checkTotal(end)
    this.start[value + 1] = end
    this.#known = value + 1
    if (end <= this.words.length) return
    const grown = newWords(this.elementSizeBytes, Math.max(end, 2 * this.words.length))
    grown.set(this.words.subarray(0, this.start[value]))
    this.words = grown
  }

  /** Writes consecutive values, whose lengths are known, from `from[fromAt]` on. */
  put(firstValue: number, lastValue: number, from: Words, fromAt = 0): void {
    const at = this.start[firstValue]
    copyWords(from, fromAt, this.words, at, this.start[lastValue] - at)
  }

  pack(frame: number): Uint8Array {
    const { valueStart, value } = this.#program.send
    const from = valueStart[frame]
    const to = valueStart[frame + 1]
    const headWords = this.sized ? 0 : lengthWords(to - from, this.elementSizeBytes)
    let total = headWords
    for (let i = from; i < to; i++) total += this.lengthOf(value[i])
    const words = newWords(this.elementSizeBytes, total)
    if (!this.sized) {
      const lengths = new Int32Array(words.buffer, 0, to - from)
      for (let i = from; i < to; i++) lengths[i - from] = this.lengthOf(value[i])
    }
    let at = headWords
    const { words: arena, start } = this
    for (let i = from; i < to; i++) {
      const v = value[i]
      const length = start[v + 1] - start[v]
      copyWords(arena, start[v], words, at, length)
      at += length
    }
    return new Uint8Array(words.buffer, 0, words.byteLength)
  }

  unpack(frame: number, arrived: Uint8Array, owned: boolean): void {
    const { valueStart } = this.#program.receive
    const from = valueStart[frame]
    const to = valueStart[frame + 1]
    // Lent bytes need not be aligned.
    const bytes = owned ? arrived : copyOf(arrived)
    const words: Words =
      this.elementSizeBytes >= 4
        ? new Int32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength >>> 2)
        : bytes
    if (this.sized) {
      this.put(from, to, words)
      return
    }
    const lengths = new Int32Array(bytes.buffer, bytes.byteOffset, to - from)
    for (let v = from; v < to; v++) this.extend(v, lengths[v - from])
    this.put(from, to, words, lengthWords(to - from, this.elementSizeBytes))
  }
}

/** Words, of elements of this size, that the lengths of so many values take. */
function lengthWords(values: number, elementSizeBytes: number): number {
  const sizeBytes = (4 * values + 7) & ~7
  return elementSizeBytes >= 4 ? sizeBytes >>> 2 : sizeBytes
}
