import type { ProcessProgram } from '../../schedule/lower/program.js'
import type { Exchange } from '../exchange/exchange.js'
import type { CollectiveCall } from '../matching/collective-call.js'
import type { Signature } from '../signature.js'
import { ProgramRun, type ProgramStore } from './run-program.js'

/**
 * A collective call that a program carries out, in every form. Binding gives the values of the program memory, and says
 * how data get from what the ranks pass to there and back. A blocking or started call runs the bound program once
 * ({@link runOnce}). A persistent one binds at its init, and every start runs the program ({@link programStart}).
 *
 * A collective that has a shorter way to run once keeps it in `run`; one whose persistent form repeats `run` does not
 * bind.
 */
export interface PlannedCall<C> extends CollectiveCall<C, unknown> {
  /**
   * Binds what the ranks here pass, on a communicator that is placed unless the call is `unplaced`.
   *
   * @param init the exchange of the init, in which processes may agree on lengths
   * @throws ERR_ALGORITHM
   */
  bind?(contributions: readonly C[], init: Exchange): BoundProgram | Promise<BoundProgram>
}

/** A program whose values have memory, and how data move between that and the buffers of the ranks. */
export interface BoundProgram {
  readonly plan: PlannedProgram
  readonly store: ProgramStore
  /** Whether the plan may retain the store for a later run. */
  readonly isReusable?: boolean
  /** Turns the ranks' contributions into values of the store. */
  fill(): void
  /**
   * Copies values into the receive buffers.
   *
   * @returns what each rank here gets, by local index; a start takes only failures from it
   */
  deliver(): readonly unknown[]
}

/** The results of a delivery that fails no rank, for calls whose ranks get nothing but their buffers filled. */
export const filled: readonly unknown[] = [undefined]

/** The program of a schedule for this process, and what a run of it leaves to the next one. */
export class PlannedProgram {
  readonly program: ProcessProgram
  readonly #firstStep: number
  /** A run that is not active. */
  #spare: ProgramRun | undefined
  #memory: object | undefined

  /** @param firstStep the first step of its messages */
  constructor(program: ProcessProgram, firstStep = 0) {
    this.program = program
    this.#firstStep = firstStep
  }

  /** Runs the program once; runs may overlap. */
  run(exchange: Exchange, store: ProgramStore, done: () => void): undefined {
    this.begin(exchange, store, done).post()
  }

  /** Begins a run, which receives nothing until it is posted. */
  begin(exchange: Exchange, store: ProgramStore, done: () => void): ProgramRun {
    const run = this.#spare ?? new ProgramRun(this.program, this.#firstStep)
    this.#spare = undefined
    run.begin(exchange, store, () => {
      this.#spare = run
      done()
    })
    return run
  }

  /** Notes a completed run, before its values are delivered. */
  noteRun(): void {}

  /** Returns the memory that the last run has left, once. */
  takeMemory(): object | undefined {
    const memory = this.#memory
    this.#memory = undefined
    return memory
  }

  /** Retains the memory of a completed run for the next one, unless frames in it have yet to be sent. */
  retain(memory: object, exchange: Exchange): void {
    if (exchange.isSent) this.#memory = memory
  }
}

/** Carries out a call that is blocking or started, and completes it. */
export function runOnce(bound: BoundProgram, exchange: Exchange): undefined {
  const { plan, store } = bound
  bound.fill()
  plan.run(exchange, store, () => {
    plan.noteRun()
    const results = bound.deliver()
    if (bound.isReusable === true) plan.retain(store, exchange)
    exchange.finish(results)
  })
}

/** What every start of a persistent collective runs. */
export type BoundStart = Pick<CollectiveCall<undefined, unknown>, 'signature' | 'unplaced' | 'run'>

/** Makes starts that run a bound program, in memory that is theirs. */
export function programStart(signature: Signature, bound: BoundProgram): BoundStart {
  const run = new ProgramRun(bound.plan.program)
  let exchange: Exchange
  const done = (): void => {
    bound.plan.noteRun()
    exchange.finish(bound.deliver())
  }
  return {
    signature,
    // The init has lowered the plan.
    unplaced: true,
    run: (_, startExchange) => {
      exchange = startExchange
      bound.fill()
      run.start(startExchange, bound.store, done)
      return undefined
    },
  }
}
