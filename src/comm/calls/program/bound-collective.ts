import type { ProcessProgram } from '../../../schedule/lower/program.js'
import type { CommContext } from '../../table/comm-context.js'
import type { CollectiveCall } from '../collective-call.js'
import type { CollectiveEngine } from '../collective-engine.js'
import type { Exchange } from '../exchange.js'
import type { Signature } from '../signature.js'
import type { ProgramStore } from './program-store.js'
import { ProgramRun } from './run-program.js'

/** A communicator as its persistent collectives see it. */
export interface PersistentContext extends CommContext {
  readonly collectives: CollectiveEngine
}

/** How a persistent collective moves data between its values and the buffers of the ranks. */
export interface BoundStore {
  readonly store: ProgramStore
  /** Makes what the ranks contribute values of the store. */
  fill(): void
  /** Copies values into the receive buffers. */
  deliver(): void
}

/** A persistent collective in one process: the buffers of all its ranks, and memory that every start reuses. */
export class BoundCollective {
  readonly lane: number
  readonly call: CollectiveCall<undefined, undefined>
  /** The start in progress, which the ranks of the process share; undefined again before any of them continues. */
  running: Promise<void> | undefined
  readonly #state: PersistentContext
  #holders: number
  /** Of the start in progress. */
  #exchange: Exchange | undefined

  /** @param signature compared by every start, because the init itself may not have exchanged a frame with every neighbor */
  constructor(
    state: PersistentContext,
    exchange: Exchange,
    signature: Signature,
    program: ProcessProgram,
    bound: BoundStore,
  ) {
    this.#state = state
    this.#holders = state.localRanks.length
    this.lane = state.collectives.openLane(exchange)
    const run = new ProgramRun(program)
    const done = (): void => {
      bound.deliver()
      this.#exchange!.finish(nothing)
    }
    this.call = {
      signature,
      shared: true,
      // The init has lowered the plan.
      unplaced: true,
      run: (_, startExchange) => {
        this.#exchange = startExchange
        bound.fill()
        run.start(startExchange, bound.store, done)
        return undefined
      },
    }
  }

  start(state: PersistentContext, localIndex: number): Promise<void> {
    const started: Promise<void> = state.collectives.start(this.lane, localIndex, this.call, undefined)
    if (started !== this.running) {
      this.running = started
      const ended = () => {
        if (this.running === started) this.running = undefined
      }
      started.then(ended, ended)
    }
    return started
  }

  /** One rank has freed its request. */
  release(): void {
    if (--this.#holders === 0) this.#state.collectives.closeLane(this.lane)
  }
}

const nothing = [undefined] as const
