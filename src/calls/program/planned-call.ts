import { requireWaitOptions, type WaitOptions } from '../../base/abort.js'
import { whenThere } from '../../base/turn.js'
import { isRankweaveError, RankweaveError } from '../../errors.js'
import { requireFixed, type TypedArray } from '../../messages/datatype/elements.js'
import type { CommContext, Seat } from '../../messages/process/comm-context.js'
import type { Exchange } from '../exchange/exchange.js'
import { hostedBy } from '../hosted-ranks.js'
import { type AnyCall, type CollectiveCall, failAllRanks } from '../matching/collective-call.js'
import type { CollectiveEngine } from '../matching/collective-engine.js'
import type { Signature } from '../signature.js'
import { type PlannedProgram, ProgramRun, type ProgramStore } from './run-program.js'

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

/** The call that every start of a persistent collective makes. */
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

interface PersistentContext extends CommContext {
  readonly collectives: CollectiveEngine
}

/**
 * A persistent collective: bound once to its buffers and started often (MPI-4.1 §6.13, §8.8). Every rank starts it the
 * same number of times; one start may be active at a time. Starts of different requests, and other collectives, may
 * overlap.
 *
 * **Buffers.** From `start` until its promise resolves, do not change the buffers that are sent or read those that are
 * received.
 */
export class PersistentRequest {
  readonly #seat: Seat<PersistentContext>
  readonly #setup: Promise<BoundCollective>
  /** The number of the init among the calls of the rank, the same on all its ranks. */
  readonly #init: number
  /** The buffers with elements. If an array has none later, it has lost its buffer. */
  readonly #buffers: readonly TypedArray[]
  /** The collective, defined once the setup has completed. */
  #bound: BoundCollective | undefined
  /** True while a start is active that had to wait for the setup, or has a signal. */
  #startedSeparately = false
  #freed = false

  /**
   * Makes a request. Programs get requests from the methods whose names end in `Init`.
   *
   * @param setup the last call of the rank
   */
  constructor(
    seat: Seat<PersistentContext>,
    setup: Promise<BoundCollective>,
    buffers: readonly TypedArray[],
  ) {
    this.#seat = seat
    this.#setup = setup
    this.#init = seat.state.collectives.callsOf(seat.localIndex)
    this.#buffers = buffers.filter(({ length }) => length > 0)
    // Every start reports a failed setup; it must not be an unhandled rejection before.
    setup.then(
      (bound) => {
        this.#bound = bound
      },
      () => {},
    )
  }

  /**
   * Runs the collective once; resolves when the receive buffer is filled.
   *
   * @throws ERR_REQUEST while the previous start is active, and after `free`; ERR_TYPE when a buffer has been detached
   */
  start(options?: WaitOptions): Promise<void> {
    try {
      this.#requireReady()
      requireWaitOptions('start', options)
      if (this.#bound === undefined || options?.signal !== undefined) return this.#startSeparately(options)
      return this.#bound.start(this.seat().localIndex)
    } catch (error) {
      return Promise.reject(error)
    }
  }

  /** @internal Starts the requests of all ranks of a process (`Communicator.startAll`). */
  static startAll(requests: readonly PersistentRequest[]): Promise<void> {
    try {
      const first: unknown = requests?.[0]
      if (first instanceof PersistentRequest && first.#repeats(requests)) return first.#bound!.startAll()
      const { state, places } = hostedBy('startAll', 'requests', requests)
      const bound = requests[0].#bound
      let isOne = bound !== undefined
      for (let i = 0; i < requests.length; i++) {
        const request = requests[i]
        request.#requireReady()
        if (request.#init !== requests[0].#init) throw otherInit()
        if (request.#bound !== bound) isOne = false
      }
      if (!isOne) return startEach(requests)
      if (places === undefined)
        bound!.listed = {
          requests: requests.slice(),
          buffers: requests.flatMap((request) => request.#buffers),
          freedHandles: state.freedHandles,
        }
      return bound!.startAll()
    } catch (error) {
      return Promise.reject(error)
    }
  }

  /** Tells whether these requests, which begin with this one, were started together before and can be again. */
  #repeats(requests: readonly PersistentRequest[]): boolean {
    const bound = this.#bound
    const listed = bound?.listed
    if (listed === undefined || requests.length !== listed.requests.length) return false
    for (let i = 0; i < listed.requests.length; i++) if (requests[i] !== listed.requests[i]) return false
    for (let i = 0; i < listed.buffers.length; i++) if (listed.buffers[i].length === 0) return false
    const { state } = this.#seat
    return state.failed === undefined && state.freedHandles === listed.freedHandles && !bound!.isActive()
  }

  /**
   * Frees the request. Local.
   *
   * @throws ERR_REQUEST while a start is active, and for a request that was freed before
   */
  free(): void {
    if (this.#freed || this.#isActive) {
      const why = this.#freed ? 'was freed before' : 'is active'
      throw new RankweaveError('ERR_REQUEST', `free: this persistent request ${why}`)
    }
    this.#freed = true
    if (this.#bound !== undefined) this.#bound.listed = undefined
    this.#setup.then((bound) => bound.release()).catch(() => {})
  }

  /** @internal Returns the rank that has made it; throws once its communicator cannot be used. */
  seat(): Seat<PersistentContext> {
    return this.#seat.handle.seat()
  }

  /** @internal Returns the same as the handle of that rank. */
  placeIn(state: object): number {
    return this.#seat.handle.placeIn(state)
  }

  #requireReady(): void {
    this.#requireUsable()
    if (this.#isActive) throw activeError()
  }

  #requireUsable(): void {
    if (this.#freed) throw new RankweaveError('ERR_REQUEST', 'start: this persistent request has been freed')
    for (let i = 0; i < this.#buffers.length; i++) {
      if (this.#buffers[i].length === 0) requireFixed(this.#buffers[i])
    }
  }

  get #isActive(): boolean {
    return this.#startedSeparately || this.#bound?.isActive(this.#seat.localIndex) === true
  }

  /** Starts after waiting for the setup, or with a signal that may abort the start. */
  async #startSeparately(options: WaitOptions | undefined): Promise<void> {
    // The start is noted before anything is awaited, because freeing the communicator meanwhile must wait for it.
    const { state, localIndex } = this.seat()
    this.#startedSeparately = true
    if (this.#bound !== undefined) this.#bound.listed = undefined
    try {
      await this.#joined(state, localIndex, options)
    } finally {
      this.#startedSeparately = false
    }
  }

  async #joined({ collectives }: PersistentContext, localIndex: number, options: WaitOptions | undefined) {
    let started: Promise<void> | undefined
    collectives.countStartsToCome(1)
    try {
      const { lane, call } = await this.#setup
      started = collectives.start(lane, localIndex, call, undefined, options)
    } finally {
      collectives.countStartsToCome(-1)
    }
    await started
  }
}

function activeError(): RankweaveError {
  const message = 'start: expected the previous start to have completed, it is active: is an await missing?'
  return new RankweaveError('ERR_REQUEST', message)
}

function otherInit(): RankweaveError {
  return new RankweaveError(
    'ERR_ARGUMENT',
    'startAll: expected the requests of one init, got some of another',
  )
}

async function startEach(requests: readonly PersistentRequest[]): Promise<void> {
  await Promise.all(requests.map((request) => request.start()))
}

/**
 * Returns the collective that the requests of the ranks of a process start. Collective.
 *
 * @param bind called when all ranks of the process have called, with what they passed, by local index; may exchange
 *   messages. ERR_ALGORITHM, which every process throws, leaves the communicator usable
 */
export function boundCollective<B>(
  { state, localIndex }: Seat<PersistentContext>,
  { signature, unplaced = false }: Pick<AnyCall, 'signature' | 'unplaced'>,
  buffers: B,
  bind: (buffers: readonly B[], exchange: Exchange) => BoundStart | Promise<BoundStart>,
): Promise<BoundCollective> {
  const call: CollectiveCall<B, BoundCollective> = {
    signature,
    unplaced,
    run: (all, exchange) => {
      const shared = (start: BoundStart) => {
        const bound = new BoundCollective(state, exchange, start)
        return all.map(() => bound)
      }
      try {
        return whenThere(bind(all, exchange), shared)
      } catch (error) {
        if (isRankweaveError(error) && error.code === 'ERR_ALGORITHM') return failAllRanks(all.length, error)
        throw error
      }
    },
  }
  return state.collectives.call(localIndex, call, buffers)
}

/**
 * Returns the request of one rank.
 *
 * @param arrays what the rank binds, which every start checks
 */
export function boundRequest<B>(
  seat: Seat<PersistentContext>,
  call: Pick<AnyCall, 'signature' | 'unplaced'>,
  arrays: readonly TypedArray[],
  buffers: B,
  bind: (buffers: readonly B[], exchange: Exchange) => BoundStart | Promise<BoundStart>,
): PersistentRequest {
  return new PersistentRequest(seat, boundCollective(seat, call, buffers, bind), arrays)
}

/**
 * Returns the request of one rank of a call that is bound to what the ranks pass.
 *
 * @param arrays what the rank binds, which every start checks
 */
export function plannedRequest<C>(
  seat: Seat<PersistentContext>,
  call: PlannedCall<C>,
  arrays: readonly TypedArray[],
  given: C,
): PersistentRequest {
  return boundRequest(seat, call, arrays, given, (all, init) => plannedStart(call.signature, call, all, init))
}

/** Binds a call, and returns its starts. @param signature what starts compare */
export function plannedStart<C>(
  signature: Signature,
  call: PlannedCall<C>,
  contributions: readonly C[],
  init: Exchange,
): BoundStart | Promise<BoundStart> {
  return whenThere(call.bind!(contributions, init), (bound) => programStart(signature, bound))
}

/** The requests of all ranks here as they were started together last, checked. None has been freed since. */
interface ListedRequests {
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
