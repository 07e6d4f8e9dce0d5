import { copyBytes } from '../../base/bytes.js'
import { noBytes } from '../../calls/exchange/exchange.js'
import type { ProgramStore } from '../../calls/program/run-program.js'
import { RankweaveError } from '../../errors.js'
import { elementSizeBytes } from '../../messages/datatype/elements.js'
import type { ProcessProgram } from '../../schedule/lower/program.js'
import { UniformStore } from './uniform-store.js'

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
