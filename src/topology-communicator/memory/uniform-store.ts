import { bytesOf, copyBytes } from '../../base/bytes.js'
import { type Exchange, noBytes } from '../../calls/exchange/exchange.js'
import { ProgramRun, type ProgramStore } from '../../calls/program/run-program.js'
import { RankweaveError } from '../../errors.js'
import { elementSizeBytes, type TypedArray } from '../../messages/datatype/elements.js'
import type { ProcessProgram } from '../../schedule/lower/program.js'
import { checkTotal, copyWords, elementsOver, newWords, type Words, wordsPerElement } from './buffers.js'

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

/**
 * Values of one length in a process that does not know it, because its ranks contribute none. The first frame that
 * carries values reveals it, and later runs know it from the start.
 */
export class LearningStore implements ProgramStore {
  readonly #program: ProcessProgram
  readonly #type: number
  #learned: UniformStore | undefined

  constructor(program: ProcessProgram, type: number) {
    this.#program = program
    this.#type = type
  }

  /** The values; undefined until a frame has brought any. */
  get learned(): UniformStore | undefined {
    return this.#learned
  }

  pack(frame: number): Uint8Array {
    // A frame leaves when its values are there; until then it is empty.
    return this.#learned?.pack(frame) ?? noBytes
  }

  landing(frame: number): Uint8Array | undefined {
    return this.#learned?.landing(frame)
  }

  /** @throws ERR_COLLECTIVE_MISMATCH unless a frame consists of values as long as those before */
  unpack(frame: number, arrived: Uint8Array): void {
    const { valueStart, peer } = this.#program.receive
    const values = valueStart[frame + 1] - valueStart[frame]
    if (values > 0) this.#learned ??= this.#ofLength(arrived.byteLength / values, peer[frame])
    const landing = this.#learned?.landing(frame) ?? noBytes
    if (landing.byteLength !== arrived.byteLength) throw misfit(peer[frame], values, arrived.byteLength)
    copyBytes(landing, 0, arrived)
  }

  combine(): void {}

  #ofLength(sizeBytes: number, peer: number): UniformStore {
    const size = elementSizeBytes(this.#type)
    if (sizeBytes % size !== 0) throw misfit(peer, 1, sizeBytes)
    return new UniformStore(this.#program, this.#type, size, sizeBytes / size)
  }
}

function misfit(peer: number, values: number, sizeBytes: number): RankweaveError {
  const message = `expected ${values} blocks of one length from process ${peer}, got ${sizeBytes} bytes: ranks pass blocks of different lengths`
  return new RankweaveError('ERR_COLLECTIVE_MISMATCH', message, { details: { peer } })
}

/** The memory that a run of a program needs; later runs reuse it. */
interface RunMemory<S extends ProgramStore> {
  readonly run: ProgramRun
  readonly store: S
  /** The wire code and number of the elements of every value. */
  readonly type: number
  readonly countElems: number
}

/** A store of at most this many bytes is retained for the next run. */
const maxRetainedBytes = 2 ** 20

/**
 * The memory of the last run of a program, while no run uses it. It serves a run with values of the same type and
 * length.
 */
export class SpareRun<S extends ProgramStore & { readonly sizeBytes: number }> {
  #spare: RunMemory<S> | undefined

  /** Returns retained memory, or new. The caller owns it until it returns it. */
  take(program: ProcessProgram, type: number, countElems: number, newStore: () => S): RunMemory<S> {
    const spare = this.#spare
    this.#spare = undefined
    if (spare?.type === type && spare.countElems === countElems) return spare
    return { run: new ProgramRun(program), store: newStore(), type, countElems }
  }

  /** Retains the memory of a completed run, unless frames in it have yet to be sent. */
  put(memory: RunMemory<S>, exchange: Exchange): void {
    if (exchange.isSent && memory.store.sizeBytes <= maxRetainedBytes) this.#spare = memory
  }
}
