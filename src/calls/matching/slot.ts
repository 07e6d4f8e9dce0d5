import type { RankweaveError } from '../../errors.js'
import type { CallSite } from '../../messages/process/call-sites.js'
import type { SlotExchange } from '../exchange/slot-exchange.js'
import { type AnyCall, failureFrom, RankFailure } from './collective-call.js'

interface Deferred {
  readonly promise: Promise<unknown>
  resolve(value: unknown): void
  reject(error: unknown): void
}

/** A collective in progress in one process: which ranks have joined, what they passed, and their promises. */
export class Slot {
  seq: number
  /** Made when a frame arrives or the collective runs. */
  exchange: SlotExchange | undefined
  /** The headers of frames that arrived before any local rank joined: one per process. */
  early: Map<number, Int32Array> | undefined
  /**
   * The world process whose frame opened it before any local rank joined, and which is charged for that; otherwise -1.
   */
  openedBy = -1
  /** The call of the first rank to join; its `run` is the one that runs. */
  call: AnyCall | undefined
  /** The local index of that rank. */
  firstCaller = -1
  arrived = 0
  /** The local index of the rank whose call is running it and which does not wait yet; otherwise -1. */
  runner = -1
  /** The local indices of ranks that have joined and do not wait. */
  awake: Set<number> | undefined
  /** The line from which each rank called it, by local index; undefined unless the world diagnoses. */
  sites: Map<number, CallSite> | undefined
  settled = false
  /** True once its ranks have their results; then only code that runs it still refers to it. */
  isResolved = false
  /** Allocated with the first contribution that is not undefined, so that a barrier retains nothing per rank. */
  contributions: unknown[] | undefined
  /** The detach functions of the ranks that wait with a signal, by local index. */
  signals: Map<number, () => void> | undefined
  /**
   * The promise that settles with the collective. It is that of all ranks of a shared result; other ranks' promises
   * derive from it.
   */
  #shared: Deferred | undefined
  /** The promises derived from `#shared`, and the local indices of their ranks, in order of derivation. */
  #derived: Promise<unknown>[] | undefined
  #owners: number[] | undefined
  #deriving = 0
  /** The promises that can be rejected separately, by local index. */
  #separate: Map<number, Deferred> | undefined
  #ownErrors: Map<number, RankweaveError> | undefined
  #results: readonly unknown[] | undefined
  #delivered = 0
  isJoint = false
  /**
   * The promise of ranks that joined together; none if the collective is complete, or has failed, before one is needed.
   */
  #joint: Deferred | undefined
  /** The result of such ranks until then, or the reason why it failed. */
  #jointResult: unknown
  readonly #localRanks: number

  constructor(seq: number, localRanks: number) {
    this.seq = seq
    this.#localRanks = localRanks
  }

  /**
   * Returns the promise of one rank: the shared one for a shared result or an only rank, otherwise one derived from it.
   */
  promise(localIndex: number, shared: boolean): Promise<unknown> {
    this.#shared ??= deferred()
    if (shared || this.#localRanks === 1) return this.#shared.promise
    this.#deliverNext ??= () => this.#deliver()
    this.#derived ??= new Array(this.#localRanks)
    this.#owners ??= new Array(this.#localRanks)
    const own = this.#shared.promise.then(this.#deliverNext)
    this.#derived[this.#deriving] = own
    this.#owners[this.#deriving++] = localIndex
    return own
  }

  /** Returns a promise that {@link failOne} can fail; it costs more than a derived one. */
  separatePromise(localIndex: number): Promise<unknown> {
    const own = deferred()
    this.#separate ??= new Map()
    this.#separate.set(localIndex, own)
    return own.promise
  }

  /**
   * Returns one promise of all ranks: of their results, or of a shared one. Called once, after the slot has been run.
   */
  jointPromise(): Promise<unknown> {
    const result = this.#jointResult
    this.#jointResult = undefined
    // As for a single rank, the failure of the communicator may go unhandled, but a failure of this call alone may not.
    if (result instanceof RankFailure)
      return this.isResolved ? Promise.reject(result.error) : quietRejection(result.error)
    if (this.isResolved) return Promise.resolve(result)
    this.#joint = deferred()
    return this.#joint.promise
  }

  /** Turns a resolved slot of ranks that joined together into one of a later collective. */
  reuse(seq: number): this {
    this.seq = seq
    this.exchange = undefined
    this.early = undefined
    this.openedBy = -1
    this.call = undefined
    this.firstCaller = -1
    this.arrived = 0
    this.runner = -1
    this.sites = undefined
    this.settled = false
    this.isResolved = false
    this.contributions = undefined
    this.signals = undefined
    this.isJoint = false
    this.#joint = undefined
    this.#jointResult = undefined
    this.#ownErrors = undefined
    this.#results = undefined
    return this
  }

  /** @param results by local index; a shared result is the first */
  resolve(results: readonly unknown[]): void {
    this.#results = results
    this.isResolved = true
    const { shared, isResultless } = this.call!
    const first = isResultless === true ? firstFailure(results) : results[0]
    if (this.isJoint) {
      const result = shared === true ? first : (firstFailure(results) ?? results)
      if (this.#joint === undefined) this.#jointResult = result
      else settle(this.#joint, result)
      return
    }
    if (this.#shared !== undefined) {
      // Derived promises pick their own result.
      if (this.#derived === undefined) settle(this.#shared, first)
      else this.#shared.resolve(undefined)
    }
    if (this.#separate === undefined) return
    for (const [localIndex, own] of this.#separate) {
      settle(own, shared === true ? first : results[localIndex])
    }
  }

  reject(error: RankweaveError): void {
    if (this.isJoint) {
      const [aborted = error] = this.#ownErrors?.values() ?? []
      if (this.#joint === undefined) this.#jointResult = new RankFailure(aborted)
      else rejectQuietly(this.#joint, aborted)
      return
    }
    if (this.call?.isOverWhenRevoked === true && error.code === 'ERR_REVOKED') {
      this.#endRevoked()
      return
    }
    for (let i = 0; i < this.#deriving; i++) this.#derived![i].catch(ignore)
    rejectQuietly(this.#shared, error)
    for (const [localIndex, own] of this.#separate ?? []) {
      rejectQuietly(own, this.#ownErrors?.get(localIndex) ?? error)
    }
  }

  #endRevoked(): void {
    this.#shared?.resolve(undefined)
    for (const [localIndex, own] of this.#separate ?? []) {
      const error = this.#ownErrors?.get(localIndex)
      if (error === undefined) own.resolve(undefined)
      else rejectQuietly(own, error)
    }
  }

  /** Lets this rank, which has its own promise, get this error when the slot fails. */
  failOne(localIndex: number, error: RankweaveError): void {
    this.#ownErrors ??= new Map()
    this.#ownErrors.set(localIndex, error)
  }

  /**
   * A single function serves all derived promises instead of a closure for each. Reactions of one promise run in the
   * order in which they were attached, so the n-th run is for the n-th owner.
   */
  #deliverNext: (() => unknown) | undefined

  #deliver(): unknown {
    const result = this.#results![this.#owners![this.#delivered++]]
    if (result instanceof RankFailure) throw result.error
    return result
  }
}

/**
 * Rejects without an unhandled rejection, which would end the host program. One failure rejects many promises, awaited
 * or not, and the communicator retains the error for every later call.
 */
function rejectQuietly(own: Deferred | undefined, error: RankweaveError): void {
  own?.promise.catch(ignore)
  own?.reject(error)
}

function ignore(): void {}

/** Returns a rejected promise that may go unhandled: the communicator retains its error for every later call. */
export function quietRejection(error: RankweaveError): Promise<never> {
  const promise = Promise.reject(error)
  promise.catch(ignore)
  return promise
}

function firstFailure(results: readonly unknown[]): unknown {
  const place = failureFrom(results, 0)
  return place < 0 ? undefined : results[place]
}

function settle(own: Deferred, result: unknown): void {
  if (result instanceof RankFailure) own.reject(result.error)
  else own.resolve(result)
}

function deferred(): Deferred {
  const promise = new Promise<unknown>(take)
  return { promise, resolve: lastResolve, reject: lastReject }
}

/** The functions that settle the promise made last. One executor serves all promises instead of a closure for each. */
let lastResolve: Deferred['resolve']
let lastReject: Deferred['reject']

function take(resolve: Deferred['resolve'], reject: Deferred['reject']): void {
  lastResolve = resolve
  lastReject = reject
}
