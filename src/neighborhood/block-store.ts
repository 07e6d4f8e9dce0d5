import { RankweaveError } from '../errors.js'
import { copyWords, newWords, type Words } from './words.js'

/**
 * The values of a lowered program during one call, side by side in one arena: value v is `words[start[v]]` up to
 * `start[v + 1]`. Lengths are all known at first, or become known value by value, in order, as frames arrive.
 */
export class BlockStore {
  /** Whether frames need not tell lengths. */
  readonly sized: boolean
  readonly elementSizeBytes: number
  /** Valid up to and including the entry after the last known value. */
  readonly start: Int32Array
  words: Words
  #known: number

  private constructor(elementSizeBytes: number, start: Int32Array, sized: boolean) {
    this.elementSizeBytes = elementSizeBytes
    this.start = start
    this.sized = sized
    this.#known = sized ? start.length - 1 : 0
    this.words = newWords(elementSizeBytes, sized ? start[start.length - 1] : 0)
  }

  /** All values of one length. */
  static even(elementSizeBytes: number, values: number, wordsEach: number): BlockStore {
    checkTotal(values * wordsEach)
    const start = new Int32Array(values + 1)
    for (let v = 0; v < values; v++) start[v + 1] = start[v] + wordsEach
    return new BlockStore(elementSizeBytes, start, true)
  }

  /** Values of the given lengths, in words. */
  static of(elementSizeBytes: number, lengths: ArrayLike<number>): BlockStore {
    const start = new Int32Array(lengths.length + 1)
    let total = 0
    for (let v = 0; v < lengths.length; v++) {
      total += lengths[v]
      checkTotal(total)
      start[v + 1] = total
    }
    return new BlockStore(elementSizeBytes, start, true)
  }

  /** Values whose lengths come with them. */
  static open(elementSizeBytes: number, values: number): BlockStore {
    return new BlockStore(elementSizeBytes, new Int32Array(values + 1), false)
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
}

function checkTotal(words: number): void {
  if (words > 0x7fffffff) {
    throw new RankweaveError(
      'ERR_COUNT',
      `the blocks of one process may have at most 2^31 - 1 words in one call, got ${words}`,
    )
  }
}
