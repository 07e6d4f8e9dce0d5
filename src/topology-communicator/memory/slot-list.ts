import {
  elementSizeBytes,
  requireIntact,
  type TypedArray,
  typeCode,
} from '../../messages/datatype/elements.js'
import type { ProcessProgram } from '../../schedule/lower/program.js'
import { rowStarts } from '../../topology/compressed-rows.js'
import type { BlockStore } from './block-store.js'
import type { ReceiveBuffers } from './buffers.js'
import {
  copyWords,
  elementsOver,
  newWords,
  smallWords,
  type Words,
  wordsPerElement,
  wordViewOf,
} from './buffers.js'
import type { UniformStore } from './uniform-store.js'

/**
 * The slots of a lowered program rank by rank: the i-th hosted rank's are those from `start[i]` up to the
 * next, and value `value[k]` belongs in slot `slot[k]`.
 */
export interface SlotList {
  readonly start: Int32Array
  readonly value: Int32Array
  readonly slot: Int32Array
  /** Whether every rank's slots are 0, 1, 2 and so on, in this order. */
  readonly isDense: boolean
}

export function slotList({ ranks, fillStart, fillRank, fillSlot }: ProcessProgram): SlotList {
  const start = rowStarts(ranks.length, fillRank)
  const next = start.slice()
  const value = new Int32Array(fillRank.length)
  const slot = new Int32Array(fillRank.length)
  for (let v = 0; v + 1 < fillStart.length; v++) {
    for (let f = fillStart[v]; f < fillStart[v + 1]; f++) {
      const at = next[fillRank[f]]++
      value[at] = v
      slot[at] = fillSlot[f]
    }
  }
  return inSlotOrder(start, value, slot) ?? { start, value, slot, isDense: false }
}

/** Orders the slots; undefined if a rank has slots that nothing fills, as on the borders of a grid. */
function inSlotOrder(start: Int32Array, value: Int32Array, slot: Int32Array): SlotList | undefined {
  const ordered = new Int32Array(value.length).fill(-1)
  const slots = new Int32Array(value.length)
  for (let i = 0; i + 1 < start.length; i++) {
    for (let k = start[i]; k < start[i + 1]; k++) {
      const at = start[i] + slot[k]
      if (at >= start[i + 1] || ordered[at] >= 0) return undefined
      ordered[at] = value[k]
      slots[at] = slot[k]
    }
  }
  return { start, value: ordered, slot: slots, isDense: true }
}

/** Copies the values of one hosted rank's slots into `target`. */
export function fillRankSlots(
  { start, value, slot, isDense }: SlotList,
  rank: number,
  { words, width }: UniformStore,
  target: Words,
): void {
  requireIntact(target)
  const begin = start[rank]
  const end = start[rank + 1]
  if (width > 1)
    for (let k = begin; k < end; k++) copyWords(words, value[k] * width, target, slot[k] * width, width)
  else if (isDense) for (let k = begin; k < end; k++) target[k - begin] = words[value[k]]
  else for (let k = begin; k < end; k++) target[slot[k]] = words[value[k]]
}

/**
 * Copies every value into the slots it fills.
 *
 * @param receive the receive buffers of the hosted ranks
 * @param fillTo the place in its rank's buffer of each fill of the program
 */
export function fillSlots(
  { fillStart, fillRank }: ProcessProgram,
  { words, start, length }: BlockStore,
  receive: Pick<ReceiveBuffers, 'words' | 'base'>,
  fillTo: Int32Array,
): void {
  for (const target of receive.words) requireIntact(target)
  for (let v = 0; v + 1 < fillStart.length; v++) {
    const from = start[v]
    const count = length[v]
    for (let f = fillStart[v]; f < fillStart[v + 1]; f++) {
      const rank = fillRank[f]
      copyWords(words, from, receive.words[rank], receive.base[rank] + fillTo[f], count)
    }
  }
}

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
