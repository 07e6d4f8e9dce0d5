import { bytesOf } from '../../base/bytes.js'
import type { ProgramStore } from '../../calls/program/run-program.js'
import type { TypedArray } from '../../messages/datatype/elements.js'
import type { ProcessProgram } from '../../schedule/lower/program.js'
import { checkTotal, copyWords, newWords, type Words, wordsPerElement } from './memory-words.js'
import { elementsOver } from './receive-buffers.js'

/**
 * The values of a program, when all have one length, and the frames it sends. It combines nothing. All memory is
 * allocated when the store is made, so a run allocates nothing, and consecutive runs can share a store. Frames land
 * where their values are; a frame whose values lie side by side is sent from there.
 */
export class UniformStore implements ProgramStore {
  /** The number of words of every value. */
  readonly width: number
  readonly countElems: number
  /** Value v is `width` words from `v * width` on. */
  readonly words: Words
  /** The memory of `words`, viewed as elements. */
  readonly elements: TypedArray
  readonly #program: ProcessProgram
  readonly #bytes: Uint8Array
  readonly #frames: readonly PackedFrame[]
  readonly #landings: readonly Uint8Array[]

  constructor(program: ProcessProgram, type: number, elementSizeBytes: number, countElems: number) {
    const { valueTerm, send, receive } = program
    this.countElems = countElems
    this.width = countElems * wordsPerElement(elementSizeBytes)
    checkTotal(valueTerm.length * this.width)
    this.words = newWords(elementSizeBytes, valueTerm.length * this.width)
    this.elements = elementsOver(type, this.words)
    this.#program = program
    this.#bytes = bytesOf(this.words)
    const valueBytes = countElems * elementSizeBytes
    this.#frames = Array.from(send.peer, (_, frame) => {
      const values = send.value.subarray(send.valueStart[frame], send.valueStart[frame + 1])
      if (areConsecutive(values)) {
        const first = values.length === 0 ? 0 : values[0] * valueBytes
        return { words: null, bytes: this.#bytes.subarray(first, first + values.length * valueBytes) }
      }
      const words = newWords(elementSizeBytes, values.length * this.width)
      return { words, bytes: bytesOf(words) }
    })
    this.#landings = Array.from(receive.peer, (_, frame) =>
      this.#bytes.subarray(
        receive.valueStart[frame] * valueBytes,
        receive.valueStart[frame + 1] * valueBytes,
      ),
    )
  }

  get sizeBytes(): number {
    return this.#frames.reduce((sum, { words }) => sum + (words?.byteLength ?? 0), this.#bytes.byteLength)
  }

  pack(frame: number): Uint8Array {
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

  landing(frame: number): Uint8Array {
    return this.#landings[frame]
  }

  unpack(): void {}

  combine(_combination: number): void {}
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
