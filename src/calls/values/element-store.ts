import { bytesOf } from '../../base/bytes.js'
import { RankweaveError } from '../../errors.js'
import {
  detachedError,
  elementSizeBytes,
  elementsIn,
  newArray,
  type TypedArray,
  typeCode,
} from '../../messages/datatype/elements.js'
import type { Kernel } from '../../messages/datatype/operation.js'
import type { ProcessProgram } from '../../schedule/lower/program.js'
import { area, type ValueMemory } from '../../schedule/lower/value-memory.js'
import type { ProgramStore } from '../program/run-program.js'

/** Returns the elements of a block, or of the partial results of part p for the term `~p`. */
export type LengthOf = (term: number) => number

/**
 * The values of a program as elements of typed arrays. The ranks' contributions and results are used in their own
 * arrays; other values have scratch memory. Values that lie next to each other leave, and arrive, without a copy.
 *
 * Own places and slots are laid out in their arrays in the order of their numbers. A store serves one run at a time:
 * bind it, run the program, then `finish` it. Frames that have been offered are still read until the exchange has sent
 * them.
 */
export class ElementStore implements ProgramStore {
  readonly slotElems: number
  readonly #program: ProcessProgram
  readonly #memory: ValueMemory
  readonly #type: number
  readonly #kernel: Kernel | undefined
  /** The array of every value in `#arrays`, and its place there, in elements. */
  readonly #arrayOf: Int32Array
  readonly #start: Float64Array
  readonly #length: Float64Array
  /** The hosted rank of every own place, and its place in the rank's contribution. */
  readonly #ownRank: Int32Array
  readonly #ownAt: Float64Array
  readonly #slotStart: Float64Array
  readonly #sends: FrameRanges
  readonly #receives: FrameRanges
  /** The contribution of every hosted rank, then the slots, then the scratch memory. */
  readonly #arrays: TypedArray[]
  readonly #bytes: Uint8Array[]
  readonly #scratchElems: number
  /** The views of values, frames that are packed, and places of frames that arrive: made when first needed. */
  readonly #views: (TypedArray | undefined)[]
  readonly #packed: (Uint8Array | undefined)[]
  readonly #landings: (Uint8Array | undefined)[]
  /** The functions that release values read in place, in memory of other processes. */
  readonly #leases: ((() => void) | undefined)[]
  /** The frames that may be lent. */
  readonly #lends: Uint8Array

  /**
   * @param kernel combines elements; only of reductions
   * @param isKernelOurs it neither writes nor retains its operands, so it may get memory of other processes
   */
  constructor(
    program: ProcessProgram,
    memory: ValueMemory,
    type: number,
    lengthOf: LengthOf,
    kernel: Kernel | undefined,
    isKernelOurs = false,
  ) {
    const { valueTerm, ranks, ownStart, send, receive } = program
    const values = valueTerm.length
    this.#program = program
    this.#memory = memory
    this.#type = type
    this.#kernel = kernel
    this.#length = Float64Array.from(valueTerm, lengthOf)
    this.#slotStart = startsOf(memory.slotTerm, lengthOf)
    const scratchStart = startsOf(memory.scratchTerm, lengthOf)
    this.slotElems = this.#slotStart[memory.slotTerm.length]
    this.#scratchElems = scratchStart[memory.scratchTerm.length]
    this.#arrayOf = new Int32Array(values)
    this.#start = new Float64Array(values)
    const owns = ownStart[ranks.length]
    this.#ownRank = new Int32Array(owns)
    this.#ownAt = new Float64Array(owns)
    for (let rank = 0; rank < ranks.length; rank++) {
      let at = 0
      for (let value = ownStart[rank]; value < ownStart[rank + 1]; value++) {
        this.#ownRank[value] = rank
        this.#ownAt[value] = at
        at += this.#length[value]
      }
    }
    for (let value = 0; value < values; value++) {
      const index = memory.index[value]
      if (memory.area[value] === area.own) this.#at(value, this.#ownRank[index], this.#ownAt[index])
      else if (memory.area[value] === area.slot) this.#at(value, ranks.length, this.#slotStart[index])
      else this.#at(value, ranks.length + 1, scratchStart[index])
    }
    this.#sends = this.#ranges(send.valueStart, (at) => send.value[at])
    this.#receives = this.#ranges(receive.valueStart, (at) => at)
    this.#arrays = new Array(ranks.length + 2)
    this.#bytes = new Array(ranks.length + 2)
    this.#views = new Array(values)
    this.#packed = new Array(send.peer.length)
    this.#landings = new Array(receive.peer.length)
    this.#leases = new Array(values)
    this.#lends = isKernelOurs ? framesReadOnce(program) : new Uint8Array(receive.peer.length)
  }

  get scratchBytes(): number {
    return this.#scratchElems * elementSizeBytes(this.#type)
  }

  /** The bytes of memory that it retains between runs: scratch memory, and frames that are packed. */
  get sizeBytes(): number {
    const packed = this.#sends.array.reduce(
      (sum, array, frame) => (array < 0 ? sum + this.#sends.length[frame] : sum),
      0,
    )
    return (this.#scratchElems + packed) * elementSizeBytes(this.#type)
  }

  /**
   * Prepares a run.
   *
   * @param own what every hosted rank contributes; a rank that contributes nothing may pass any array
   * @param slots at least `slotElems` elements; not memory of `own`, unless the value memory is that of a call in place
   * @param scratch at least `scratchBytes`, for a store that is bound once. Default: new memory
   */
  bind(own: readonly TypedArray[], slots: TypedArray, scratch?: ArrayBuffer): void {
    const arrays = this.#arrays
    const slotArray = own.length
    for (let rank = 0; rank < own.length; rank++) {
      if (arrays[rank] === own[rank]) continue
      arrays[rank] = own[rank]
      this.#bytes[rank] = bytesOf(own[rank])
      this.#forget(rank)
    }
    if (arrays[slotArray] !== slots) {
      arrays[slotArray] = slots
      this.#bytes[slotArray] = bytesOf(slots)
      this.#forget(slotArray)
    }
    if (arrays[slotArray + 1] === undefined) {
      const array =
        scratch === undefined
          ? newArray(this.#type, this.#scratchElems)
          : elementsIn(this.#type, new Uint8Array(scratch, 0, this.scratchBytes))
      arrays[slotArray + 1] = array
      this.#bytes[slotArray + 1] = bytesOf(array)
    }
    const { ownCopy, ownCopyTo } = this.#memory
    for (let i = 0; i < ownCopy.length; i++) this.#copyOwn(ownCopy[i], ownCopyTo[i])
  }

  /** Fills the slots whose values are elsewhere, when the program has run. */
  finish(): void {
    const { copy, copyTo } = this.#memory
    for (let i = 0; i < copy.length; i++) {
      const from = this.#view(copy[i])
      const at = this.#slotStart[copyTo[i]]
      ;(this.#slots as Float64Array).set(from as Float64Array, at)
    }
  }

  pack(frame: number): Uint8Array {
    const { array, start, length } = this.#sends
    if (array[frame] >= 0) return this.#part(array[frame], start[frame], length[frame])
    this.#packed[frame] ??= new Uint8Array(length[frame] * elementSizeBytes(this.#type))
    const packed = this.#packed[frame]
    const { valueStart, value } = this.#program.send
    let at = 0
    for (let i = valueStart[frame]; i < valueStart[frame + 1]; i++) {
      const bytes = this.#bytesOf(value[i])
      packed.set(bytes, at)
      at += bytes.byteLength
    }
    return packed
  }

  landing(frame: number): Uint8Array | undefined {
    const { array, start, length } = this.#receives
    if (array[frame] < 0) return undefined
    this.#landings[frame] ??= this.#part(array[frame], start[frame], length[frame])
    return this.#landings[frame]
  }

  lends(frame: number): boolean {
    return this.#lends[frame] === 1
  }

  lend(frame: number, bytes: Uint8Array, release: () => void): void {
    this.#requireLength(frame, bytes)
    const value = this.#program.receive.valueStart[frame]
    this.#views[value] = elementsIn(this.#type, bytes)
    this.#leases[value] = release
  }

  unpack(frame: number, bytes: Uint8Array): void {
    const { valueStart } = this.#program.receive
    this.#requireLength(frame, bytes)
    let at = 0
    for (let value = valueStart[frame]; value < valueStart[frame + 1]; value++) {
      const into = this.#bytesOf(value)
      into.set(bytes.subarray(at, at + into.byteLength))
      at += into.byteLength
    }
  }

  combine(combination: number): void {
    const { firstValue, left, right } = this.#program.combine
    const out = this.#view(firstValue + combination)
    const [a, b] = [this.#view(left[combination]), this.#view(right[combination])]
    const length = this.#length[firstValue + combination]
    // A rank may have transferred the buffer of its array since it was bound.
    if (out.length !== length || a.length !== length || b.length !== length) throw detachedError()
    this.#kernel!(out, a, b)
    this.#release(left[combination])
    this.#release(right[combination])
  }

  #release(value: number): void {
    const release = this.#leases[value]
    if (release === undefined) return
    this.#leases[value] = undefined
    this.#views[value] = undefined
    release()
  }

  #requireLength(frame: number, bytes: Uint8Array): void {
    const expected = this.#receives.length[frame] * elementSizeBytes(this.#type)
    if (bytes.byteLength === expected) return
    throw new RankweaveError(
      'ERR_COLLECTIVE_MISMATCH',
      `expected a frame of ${expected} bytes, got ${bytes.byteLength}: the processes differ in what they run`,
    )
  }

  get #slots(): TypedArray {
    return this.#arrays[this.#program.ranks.length]
  }

  #at(value: number, array: number, start: number): void {
    this.#arrayOf[value] = array
    this.#start[value] = start
  }

  #copyOwn(value: number, slot: number): void {
    const own = this.#arrays[this.#ownRank[value]]
    const from = own.subarray(this.#ownAt[value], this.#ownAt[value] + this.#length[value])
    const to = this.#slotStart[slot]
    const slots = this.#slots
    const isThere =
      slots.buffer === from.buffer && slots.byteOffset + to * slots.BYTES_PER_ELEMENT === from.byteOffset
    if (!isThere) (slots as Float64Array).set(from as Float64Array, to)
  }

  /** Forgets the views of an array that has been replaced. */
  #forget(array: number): void {
    for (let value = 0; value < this.#views.length; value++) {
      if (this.#arrayOf[value] === array) this.#views[value] = undefined
    }
    for (let frame = 0; frame < this.#landings.length; frame++) {
      if (this.#receives.array[frame] === array) this.#landings[frame] = undefined
    }
  }

  #view(value: number): TypedArray {
    this.#views[value] ??= this.#viewOf(value)
    return this.#views[value]
  }

  #viewOf(value: number): TypedArray {
    const array = this.#arrays[this.#arrayOf[value]]
    const length = this.#length[value]
    if (length === array.length) return array
    return array.subarray(this.#start[value], this.#start[value] + length)
  }

  #bytesOf(value: number): Uint8Array {
    return this.#part(this.#arrayOf[value], this.#start[value], this.#length[value])
  }

  #part(array: number, start: number, length: number): Uint8Array {
    const bytes = this.#bytes[array]
    const sizeBytes = elementSizeBytes(this.#type)
    if (length * sizeBytes === bytes.byteLength) return bytes
    return bytes.subarray(start * sizeBytes, (start + length) * sizeBytes)
  }

  /** Finds the frames whose values lie next to each other, in their order, which are ranges of one array. */
  #ranges(valueStart: Int32Array, valueAt: (at: number) => number): FrameRanges {
    const frames = valueStart.length - 1
    const array = new Int32Array(frames)
    const start = new Float64Array(frames)
    const length = new Float64Array(frames)
    for (let frame = 0; frame < frames; frame++) {
      let first = -1
      for (let at = valueStart[frame]; at < valueStart[frame + 1]; at++) {
        const value = valueAt(at)
        if (this.#length[value] === 0) continue
        if (first < 0) {
          first = value
          array[frame] = this.#arrayOf[value]
          start[frame] = this.#start[value]
        } else if (
          this.#arrayOf[value] !== array[frame] ||
          this.#start[value] !== start[frame] + length[frame]
        ) {
          array[frame] = -1
        }
        length[frame] += this.#length[value]
      }
      // An empty frame is a range of no array.
      if (first < 0) array[frame] = this.#program.ranks.length + 1
    }
    return { array, start, length }
  }
}

/** For each frame, the array of which it is a range, or -1 for a frame that is packed, and the range in elements. */
interface FrameRanges {
  readonly array: Int32Array
  readonly start: Float64Array
  readonly length: Float64Array
}

function startsOf(terms: Int32Array, lengthOf: LengthOf): Float64Array {
  const starts = new Float64Array(terms.length + 1)
  for (let i = 0; i < terms.length; i++) starts[i + 1] = starts[i] + lengthOf(terms[i])
  return starts
}

/** Marks frames to receive whose only value is read by one combination, and sent or delivered by none. */
function framesReadOnce({ receive, send, combine, fillStart, valueTerm }: ProcessProgram): Uint8Array {
  const reads = new Int32Array(valueTerm.length)
  for (const value of combine.left) reads[value]++
  for (const value of combine.right) reads[value]++
  // A value that is sent counts as read more than once.
  for (const value of send.value) reads[value] = 2
  const frames = new Uint8Array(receive.peer.length)
  for (let frame = 0; frame < frames.length; frame++) {
    const value = receive.valueStart[frame]
    const isAlone = receive.valueStart[frame + 1] === value + 1
    if (isAlone && reads[value] === 1 && fillStart[value] === fillStart[value + 1]) frames[frame] = 1
  }
  return frames
}

/** The most bytes of the blocks of a call whose memory is retained for the next one. */
export const mostRetainedBytes = 65_536

/** The blocks of a program that moves short blocks of one length, process by process; retained from call to call. */
export class MoveMemory {
  /** The length of a block for which it was made. */
  readonly sizeBytes: number
  /** The contributions of the ranks here side by side; `slots` holds their results. */
  readonly own: Uint8Array
  readonly slots: Uint8Array
  readonly store: ElementStore

  constructor(
    program: ProcessProgram,
    memory: ValueMemory,
    sizeBytes: number,
    lengthOf: LengthOf,
    ownBytes: number,
  ) {
    this.sizeBytes = sizeBytes
    this.store = new ElementStore(program, memory, typeCode.Uint8Array, lengthOf, undefined)
    this.own = new Uint8Array(ownBytes)
    this.slots = new Uint8Array(this.store.slotElems)
  }

  /** Begins a run, when `own` is filled. */
  bind(): ElementStore {
    this.store.bind([this.own], this.slots)
    return this.store
  }

  get isRetained(): boolean {
    return this.own.byteLength + this.slots.byteLength <= 2 * mostRetainedBytes
  }
}
