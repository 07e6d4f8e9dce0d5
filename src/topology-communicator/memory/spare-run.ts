import type { Exchange } from '../../calls/exchange/exchange.js'
import { ProgramRun, type ProgramStore } from '../../calls/program/run-program.js'
import type { ProcessProgram } from '../../schedule/lower/program.js'

/** The memory that a run of a program needs; later runs reuse it. */
export interface RunMemory<S extends ProgramStore> {
  readonly run: ProgramRun
  readonly store: S
  /** The wire code and number of the elements of every value. */
  readonly type: number
  readonly countElems: number
}

/** A store of at most this many bytes is retained for the next run. */
export const maxRetainedBytes = 2 ** 20

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
