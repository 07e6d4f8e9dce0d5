import type { Exchange } from '../../calls/exchange.js'
import { ProgramRun, type ProgramStore } from '../../calls/program/run-program.js'
import type { ProcessProgram } from '../../schedule/lower/program.js'

/** What a run of a program needs: reused by later ones. */
export interface RunMemory<S extends ProgramStore> {
  readonly run: ProgramRun
  readonly store: S
  /** Wire code and number of the elements of every value. */
  readonly type: number
  readonly countElems: number
}

/** A store of at most this many bytes is retained for the next run. */
export const maxRetainedBytes = 2 ** 20

/**
 * The memory of the run of a program that ended last, while no run uses it, for one with values of the same
 * type and length.
 */
export class SpareRun<S extends ProgramStore & { readonly sizeBytes: number }> {
  #spare: RunMemory<S> | undefined

  /** Retained memory, or new. The caller has it alone until it returns it. */
  take(program: ProcessProgram, type: number, countElems: number, newStore: () => S): RunMemory<S> {
    const spare = this.#spare
    this.#spare = undefined
    if (spare?.type === type && spare.countElems === countElems) return spare
    return { run: new ProgramRun(program), store: newStore(), type, countElems }
  }

  /** After a run that is done. Memory of which frames are still to be sent is not retained. */
  put(memory: RunMemory<S>, exchange: Exchange): void {
    if (exchange.isSent && memory.store.sizeBytes <= maxRetainedBytes) this.#spare = memory
  }
}
