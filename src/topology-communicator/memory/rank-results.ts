import { elementSizeBytes, type TypedArray, typeCode } from '../../messages/datatype/elements.js'
import { newWords, type Words, wordsPerElement, wordViewOf } from './memory-words.js'
import { elementsOver, smallWords } from './receive-buffers.js'
import { fillRankSlots, type SlotList } from './slot-list.js'
import type { UniformStore } from './uniform-store.js'

/**
 * Copies the values of equal length that one rank gets to its buffer. A few values are collected as words before they
 * are copied as elements, which is less work than a view of the buffer as words. Elements that are words need neither.
 */
export class RankResults {
  /** Whether elements can be written one by one as words, bit by bit. */
  readonly #isWord: boolean
  readonly #type: number
  readonly #perElement: number
  readonly #bySize: TypedArray[] = []
  #words: Words | undefined

  constructor(type: number) {
    this.#type = type
    this.#perElement = wordsPerElement(elementSizeBytes(type))
    this.#isWord = this.#perElement === 1 && type !== typeCode.Float32Array
  }

  /**
   * @param index the index of the rank in the program
   * @param countElems the number of elements that its slots take
   * @param areAllFilled false on a grid, where slots beyond its borders keep their contents
   */
  fill(
    slots: SlotList,
    index: number,
    store: UniformStore,
    target: TypedArray,
    countElems: number,
    areAllFilled: boolean,
  ): void {
    if (this.#isWord) fillRankSlots(slots, index, store, target as unknown as Words)
    else if (areAllFilled && countElems * this.#perElement <= smallWords) {
      this.#words ??= newWords(elementSizeBytes(this.#type), smallWords)
      fillRankSlots(slots, index, store, this.#words)
      ;(target as Float64Array).set(this.#elements(this.#words, countElems) as Float64Array)
    } else fillRankSlots(slots, index, store, wordViewOf(target))
  }

  /** Returns the first `countElems` elements. */
  #elements(words: Words, countElems: number): TypedArray {
    this.#bySize[countElems] ??= elementsOver(this.#type, words.subarray(0, countElems * this.#perElement))
    return this.#bySize[countElems]
  }
}
