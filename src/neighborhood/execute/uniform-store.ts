import { bytesOf } from '../../base/bytes.js'
import type { TypedArray } from '../../comm/datatype/elements.js'
import type { ProcessProgram } from '../../schedule/lower/lower.js'
import type { FrameStore } from './frame-store.js'
import { checkTotal, copyWords, newWords, type Words, wordsPerElement } from './memory-words.js'
import { elementsOver } from './receive-buffers.js'

/**
 * The values of a lowered program when all have one length, and the frames it sends. All memory is allocated when the
 * store is made, so a run allocates nothing, and consecutive runs can share a store.
 */
export class UniformStore implements FrameStore {
  /** Words of every value. */
  readonly width: number
  /** Value v is `width` words from `v * width` on. */
  readonly words: Words
  /** The same memory as elements. */
  readonly elements: TypedArray
  readonly #program: ProcessProgram
  readonly #bytes: Uint8Array
  readonly #valueBytes: number
  readonly #frames: readonly { readonly words: Words; readonly bytes: Uint8Array }[]

  /** @param type wire code of the elements */
  constructor(program: ProcessProgram, type: number, elementSizeBytes: number, countElems: number) {
    const { valueBlock, send } = program
    this.width = countElems * wordsPerElement(elementSizeBytes)
    checkTotal(valueBlock.length * this.width)
    this.words = newWords(elementSizeBytes, valueBlock.length * this.width)
    this.elements = elementsOver(type, this.words)
    this.#program = program
    this.#bytes = bytesOf(this.words)
    this.#valueBytes = countElems * elementSizeBytes
    this.#frames = Array.from(send.peer, (_, frame) => {
      const values = send.valueStart[frame + 1] - send.valueStart[frame]
      const words = newWords(elementSizeBytes, values * this.width)
      return { words, bytes: bytesOf(words) }
    })
  }

  get sizeBytes(): number {
    return this.#frames.reduce((sum, { bytes }) => sum + bytes.byteLength, this.#bytes.byteLength)
  }

  pack(frame: number): Uint8Array {
    const { valueStart, value } = this.#program.send
    const { words, width } = this
    const packed = this.#frames[frame]
    const from = valueStart[frame]
    const count = valueStart[frame + 1] - from
    if (width === 1) for (let i = 0; i < count; i++) packed.words[i] = words[value[from + i]]
    else {
      for (let i = 0; i < count; i++) {
        copyWords(words, value[from + i] * width, packed.words, i * width, width)
      }
    }
    return packed.bytes
  }

  unpack(frame: number, bytes: Uint8Array): void {
    this.#bytes.set(bytes, this.#program.receive.valueStart[frame] * this.#valueBytes)
  }
}

/**
 * The slots of a lowered program rank by rank: the i-th hosted rank's are those from `start[i]` up to the next, and
 * value `value[k]` belongs in slot `slot[k]`.
 */
export interface SlotList {
  readonly start: Int32Array
  readonly value: Int32Array
  readonly slot: Int32Array
}

export function slotList({ ranks, fillStart, fillRank, fillSlot }: ProcessProgram): SlotList {
  const start = new Int32Array(ranks.length + 1)
  for (const rank of fillRank) start[rank + 1]++
  for (let i = 0; i < ranks.length; i++) start[i + 1] += start[i]
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
  return { start, value, slot }
}

/** Copies the values of one hosted rank's slots into `target`. */
export function fillRankSlots(
  { start, value, slot }: SlotList,
  rank: number,
  { words, width }: UniformStore,
  target: Words,
): void {
  const end = start[rank + 1]
  if (width === 1) for (let k = start[rank]; k < end; k++) target[slot[k]] = words[value[k]]
  else
    for (let k = start[rank]; k < end; k++) copyWords(words, value[k] * width, target, slot[k] * width, width)
}
