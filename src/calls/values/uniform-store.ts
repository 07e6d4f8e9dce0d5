import { bytesOf, copyBytes } from '../../base/bytes.js'
import { RankweaveError } from '../../errors.js'
import {
  elementSizeBytes,
  requireIntact,
  type TypedArray,
  typeCode,
} from '../../messages/datatype/elements.js'
import type { ReadyOperation } from '../../messages/datatype/operation.js'
import type { ProcessProgram } from '../../schedule/lower/program.js'
import { rowStarts } from '../../topology/compressed-rows.js'
import { noBytes } from '../exchange/exchange.js'
import type { ProgramStore } from '../program/run-program.js'
import {
  checkTotal,
  copyWords,
  elementsOver,
  newWords,
  setWords,
  smallWords,
  type Words,
  wordsPerElement,
  wordViewOf,
} from './block-store.js'
import { type Combiner, combinerOf } from './fold.js'

/** A store of at most this many bytes may be retained for the next run. */
const mostRetainedBytes = 2 ** 20

/**
 * The values of a program, when all have one length, and the frames it sends. All memory is allocated with the length,
 * so a run allocates nothing, and consecutive runs can share a store. Frames land where their values are; a frame whose
 * values lie side by side is sent from there.
 *
 * A process none of whose ranks contributes a value does not know the length. The first frame that carries values
 * reveals it, and later runs know it from the start.
 */
export class UniformStore implements ProgramStore {
  /** The wire code of the elements. */
  readonly type: number
  /** Whether the length is known. Until then the store has no values, and the length counts as 0. */
  isKnown: boolean
  countElems: number
  /** The number of words of every value. */
  width: number
  /** Value v is `width` words from `v * width` on. */
  words: Words
  /** The memory of `words`, viewed as elements. */
  elements: TypedArray
  readonly #program: ProcessProgram
  #bytes: Uint8Array
  #frames: readonly PackedFrame[]
  #landings: readonly Uint8Array[]
  /** The views of values that have been combined or delivered, so that later runs allocate none. */
  readonly #views: TypedArray[]
  /** The operation of a program that combines. */
  #op: ReadyOperation | undefined
  #combiner: Combiner<unknown> | undefined

  /** @param countElems null if this process does not know it */
  constructor(program: ProcessProgram, type: number, countElems: number | null) {
    // V8 compiles the copy loops for a constant width as long as nothing assigns it twice.
    const values = valuesOf(program, type, countElems ?? 0)
    this.#program = program
    this.type = type
    this.isKnown = countElems !== null
    this.countElems = values.countElems
    this.width = values.width
    this.words = values.words
    this.elements = values.elements
    this.#bytes = values.bytes
    this.#frames = values.frames
    this.#landings = countElems === null ? [] : values.landings
    this.#views = new Array(program.valueTerm.length)
  }

  #learn(countElems: number): void {
    const values = valuesOf(this.#program, this.type, countElems)
    this.isKnown = true
    this.countElems = values.countElems
    this.width = values.width
    this.words = values.words
    this.elements = values.elements
    this.#bytes = values.bytes
    this.#frames = values.frames
    this.#landings = values.landings
  }

  /** Whether it is small enough to be retained for a later run. */
  get isReusable(): boolean {
    const packed = this.#frames.reduce((sum, { words }) => sum + (words?.byteLength ?? 0), 0)
    return this.#bytes.byteLength + packed <= mostRetainedBytes
  }

  /** Makes combinations those of an operation, from the next run on. */
  bind(op: ReadyOperation): void {
    if (op === this.#op) return
    this.#op = op
    this.#combiner = op.kind === 'kernel' ? undefined : combinerOf(op, this.type, this.countElems)
  }

  view(value: number): TypedArray {
    const { countElems } = this
    this.#views[value] ??= this.elements.subarray(value * countElems, (value + 1) * countElems)
    return this.#views[value]
  }

  pack(frame: number): Uint8Array {
    // A frame leaves when its values are there, so one that leaves before any length is known has none.
    if (!this.isKnown) return noBytes
    const { valueStart, value } = this.#program.send
    const { words, width } = this
    const packed = this.#frames[frame]
    if (packed.words === null) return packed.bytes
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

  landing(frame: number): Uint8Array | undefined {
    return this.#landings[frame]
  }

  /**
   * Takes a frame that was awaited before any length was known.
   *
   * @throws ERR_COLLECTIVE_MISMATCH unless it consists of values as long as those before
   */
  unpack(frame: number, arrived: Uint8Array): void {
    const { valueStart, peer } = this.#program.receive
    const values = valueStart[frame + 1] - valueStart[frame]
    if (values > 0 && !this.isKnown) {
      const countElems = arrived.byteLength / values / elementSizeBytes(this.type)
      if (!Number.isInteger(countElems)) throw misfit(peer[frame], 1, arrived.byteLength / values)
      this.#learn(countElems)
    }
    const landing = this.#landings[frame] ?? noBytes
    if (landing.byteLength !== arrived.byteLength) throw misfit(peer[frame], values, arrived.byteLength)
    copyBytes(landing, 0, arrived)
  }

  combine(combination: number): void {
    const { firstValue, left, right } = this.#program.combine
    const op = this.#op!
    const out = this.view(firstValue + combination)
    const [a, b] = [this.view(left[combination]), this.view(right[combination])]
    if (op.kind === 'kernel') op.kernel(out, a, b)
    else (out as Float64Array).set(this.#combiner!.combine(a, false, b, false) as Float64Array)
  }
}

/** The memory of values of one length, and the frames in it. */
function valuesOf({ valueTerm, send, receive }: ProcessProgram, type: number, countElems: number) {
  const sizeBytes = elementSizeBytes(type)
  const width = countElems * wordsPerElement(sizeBytes)
  checkTotal(valueTerm.length * width)
  const words = newWords(sizeBytes, valueTerm.length * width)
  const bytes = bytesOf(words)
  const valueBytes = countElems * sizeBytes
  const frames = Array.from(send.peer, (_, frame): PackedFrame => {
    const values = send.value.subarray(send.valueStart[frame], send.valueStart[frame + 1])
    if (areConsecutive(values)) {
      const first = values.length === 0 ? 0 : values[0] * valueBytes
      return { words: null, bytes: bytes.subarray(first, first + values.length * valueBytes) }
    }
    const packed = newWords(sizeBytes, values.length * width)
    return { words: packed, bytes: bytesOf(packed) }
  })
  const landings = Array.from(receive.peer, (_, frame) =>
    bytes.subarray(receive.valueStart[frame] * valueBytes, receive.valueStart[frame + 1] * valueBytes),
  )
  return { countElems, width, words, elements: elementsOver(type, words), bytes, frames, landings }
}

/** A frame to send. @param words the memory in which its values are packed; null if they lie side by side */
interface PackedFrame {
  readonly words: Words | null
  readonly bytes: Uint8Array
}

function areConsecutive(values: Int32Array): boolean {
  for (let i = 1; i < values.length; i++) if (values[i] !== values[0] + i) return false
  return true
}

function misfit(peer: number, values: number, sizeBytes: number): RankweaveError {
  const message = `expected ${values} blocks of one length from process ${peer}, got ${sizeBytes} bytes: ranks pass blocks of different lengths`
  return new RankweaveError('ERR_COLLECTIVE_MISMATCH', message, { details: { peer } })
}

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
  if (width === 1 && isDense) for (let k = begin; k < end; k++) target[k - begin] = words[value[k]]
  else if (width >= setWords)
    for (let k = begin; k < end; k++) copyWords(words, value[k] * width, target, slot[k] * width, width)
  else {
    for (let k = begin; k < end; k++) {
      const from = value[k] * width
      const to = slot[k] * width
      for (let i = 0; i < width; i++) target[to + i] = words[from + i]
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
