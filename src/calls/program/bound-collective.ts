import type { TypedArray } from '../../messages/datatype/elements.js'
import type { CommContext } from '../../messages/process/comm-context.js'
import type { ProcessProgram } from '../../schedule/lower/program.js'
import type { Exchange } from '../exchange/exchange.js'
import type { CollectiveCall, RankFailure } from '../matching/collective-call.js'
import type { CollectiveEngine } from '../matching/collective-engine.js'
import type { Signature } from '../signature.js'
import { ProgramRun, type ProgramStore } from './run-program.js'

export interface PersistentContext extends CommContext {
  readonly collectives: CollectiveEngine
}

/** A program, and how a persistent collective moves data between its values and the buffers of the ranks. */
export interface BoundProgram {
  readonly program: ProcessProgram
  readonly store: ProgramStore
  /** Turns the ranks' contributions into values of the store. */
  fill(): void
  /**
   * Copies values into the receive buffers.
   *
   * @returns why the ranks here fail, if a buffer does not fit what has come
   */
  // biome-ignore lint/suspicious/noConfusingVoidType: most return nothing
  deliver(): RankFailure | undefined | void
}

/** A call whose persistent form may be a program that is bound to the buffers of the ranks of a process. */
export interface BindableCall<C> extends CollectiveCall<C, unknown> {
  /**
   * Binds the buffers, on a communicator that is placed.
   *
   * @throws ERR_ALGORITHM
   */
  bind?(contributions: readonly C[]): BoundProgram | Promise<BoundProgram>
}

export type BoundStart = Pick<CollectiveCall<undefined, unknown>, 'signature' | 'unplaced' | 'run'>

export function programStart(signature: Signature, bound: BoundProgram): BoundStart {
  const run = new ProgramRun(bound.program)
  let exchange: Exchange
  const done = (): void => {
    const failure = bound.deliver()
    exchange.finish(failure === undefined ? nothing : [failure])
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

/** The requests of all ranks here as they were started together last, checked. None has been freed since. */
export interface ListedRequests {
  readonly requests: readonly unknown[]
  /** The buffers of all requests. If an array has no elements later, it has lost its buffer. */
  readonly buffers: readonly TypedArray[]
  /** The handles of the communicator that had been freed by then. */
  readonly freedHandles: number | undefined
}

/** A persistent collective in one process: the buffers of all its ranks, and its own lane. */
export class BoundCollective {
  readonly lane: number
  readonly call: CollectiveCall<undefined, undefined>
  listed: ListedRequests | undefined
  readonly #state: PersistentContext
  #holders: number

  /**
   * @param exchange of the init
   * @param start its signature is compared by every start, because an init need not exchange a frame with any process
   */
  constructor(state: PersistentContext, exchange: Exchange, { signature, unplaced, run }: BoundStart) {
    this.#state = state
    this.#holders = state.localRanks.length
    this.lane = state.collectives.openLane(exchange)
    const call = { signature, shared: true, isResultless: true, run: run as () => undefined } as const
    this.call = unplaced === undefined ? call : { ...call, unplaced }
  }

  start(localIndex: number): Promise<void> {
    return this.#state.collectives.start(this.lane, localIndex, this.call, undefined)
  }

  startAll(): Promise<void> {
    return this.#state.collectives.startTogether(this.lane, this.call) as Promise<void>
  }

  /**
   * Tells whether a start of this rank, or without a rank of any, is in progress. It no longer is when its promise
   * resolves.
   */
  isActive(localIndex?: number): boolean {
    return this.#state.collectives.isActive(this.lane, localIndex)
  }

  release(): void {
    if (--this.#holders === 0) this.#state.collectives.closeLane(this.lane)
  }
}

const nothing = [undefined] as const
