import { abortedError, misfitSignal } from '../../base/abort.js'
import { RankweaveError } from '../../errors.js'
import { onAbort } from '../process/abort.js'
import type { CallSite, CallSites } from '../process/call-sites.js'
import { inTurn, resolvedInTurn } from '../process/completion-budget.js'
import type { RankCounters } from '../process/counters.js'

export interface OperationOwner {
  readonly rank: number
  readonly worldRank: number
  readonly counters: RankCounters
  readonly name: string
  readonly communicatorName: string
  /** The origin, `; communicator 0.1 was made by ...`; empty for the world. */
  readonly origin?: string
  /** The lines that called operations, if the world diagnoses. */
  readonly callSites?: CallSites | undefined
  block(hasSignal: boolean): void
  /** Undoes one `block` with the same argument. */
  unblock(hasSignal: boolean): void
  poll(): void
  /** Polls for the completion of an operation that the rank is about to wait for, if that may pay off. */
  pollFor(operation: { readonly settled: boolean }): void
}

/** A wait for one operation. While it is attached, the operation's rank counts as blocked. */
export interface Waiter {
  readonly hasSignal: boolean
  settled(): void
}

/**
 * A wait for several operations, which blocks their ranks itself, once. It does not leave the operations one by one
 * when it is over: they ignore it then, and the next one takes its place.
 */
export interface JointWaiter {
  readonly isOver: boolean
  settled(operation: Pending<unknown>): void
}

/**
 * A started operation of one rank. It settles once, whether or not the rank waits for it. An error that no wait
 * collects stays here: there is no promise whose rejection could be unhandled.
 */
export abstract class Pending<T> {
  readonly owner: OperationOwner
  /** The line that called it; undefined unless the world diagnoses. */
  readonly site: CallSite | undefined
  /** The wait for several operations that includes this one; a second such wait at the same time attaches a waiter. */
  joint: JointWaiter | undefined
  #state: 'pending' | 'fulfilled' | 'rejected' = 'pending'
  #value: T | undefined
  #error: RankweaveError | undefined
  #waiters: Waiter[] | undefined
  #signal: AbortSignal | undefined
  #ignoreSignal: (() => void) | undefined

  constructor(owner: OperationOwner) {
    this.owner = owner
    this.site = owner.callSites?.take(owner.worldRank)
  }

  /** The call as reports show it. */
  abstract get call(): string

  /** Takes the operation back, if that is still possible; it then rejects with `error`. */
  protected abstract withdraw(error: RankweaveError): void

  get settled(): boolean {
    return this.#state !== 'pending'
  }

  get awaited(): boolean {
    return (this.#waiters !== undefined && this.#waiters.length > 0) || this.joint?.isOver === false
  }

  /** Whether a frame that completes it settles it before anything else runs. */
  get settlesInFrame(): boolean {
    return false
  }

  get hasSignal(): boolean {
    return this.#signal !== undefined
  }

  /** The reason it failed, if it has. */
  get failure(): RankweaveError | undefined {
    return this.#error
  }

  fulfil(value: T): void {
    if (this.#state !== 'pending') return
    this.#state = 'fulfilled'
    this.#value = value
    this.#settle()
  }

  reject(error: RankweaveError): void {
    if (this.#state !== 'pending') return
    this.#state = 'rejected'
    this.#error = error
    this.#settle()
  }

  cancel(signal?: AbortSignal): void {
    if (!this.settled) this.withdraw(abortedError(this.call, signal))
  }

  cancelOn(signal: AbortSignal): void {
    if (this.settled) return
    this.#signal = signal
    this.#ignoreSignal = onAbort(signal, () => {
      this.cancel(signal)
      this.#dropSignal()
    })
  }

  /**
   * Drops the signal. An operation that could not be taken back completes by itself or never: its signal cannot wake
   * its waits.
   */
  #dropSignal(): void {
    const waiters = this.#waiters ?? []
    for (const waiter of waiters) this.owner.unblock(this.#countsAsSignalled(waiter))
    this.#signal = undefined
    for (const waiter of waiters) this.owner.block(this.#countsAsSignalled(waiter))
  }

  attach(waiter: Waiter): void {
    this.#waiters ??= []
    this.#waiters.push(waiter)
    this.owner.block(this.#countsAsSignalled(waiter))
  }

  detach(waiter: Waiter): void {
    const at = this.#waiters?.indexOf(waiter) ?? -1
    if (at < 0) return
    this.#waiters!.splice(at, 1)
    this.owner.unblock(this.#countsAsSignalled(waiter))
  }

  /** Returns the outcome. `signal` ends this wait only, not the operation. */
  wait(signal?: AbortSignal): Promise<T> {
    const misfit = misfitSignal(signal)
    if (misfit !== undefined) return Promise.reject(misfit)
    if (this.settled) return this.outcome()
    if (signal?.aborted) return Promise.reject(abortedError(`waiting for ${this.call}`, signal))
    return new Promise((resolve, reject) => {
      let ignore: (() => void) | undefined
      const waiter: Waiter = {
        hasSignal: signal !== undefined,
        settled: () => {
          ignore?.()
          inTurn(() => this.deliver(resolve, reject))
        },
      }
      this.attach(waiter)
      if (signal === undefined) return
      ignore = onAbort(signal, () => {
        ignore?.()
        this.detach(waiter)
        reject(abortedError(`waiting for ${this.call}`, signal))
      })
    })
  }

  /** The value of a settled operation; throws its error. */
  get result(): T {
    if (this.#error !== undefined) throw this.#error
    return this.#value as T
  }

  outcome(): Promise<T> {
    if (this.#state === 'fulfilled') return resolvedInTurn(this.#value as T)
    return new Promise((_, reject) => inTurn(() => reject(this.#error)))
  }

  deliver(resolve: (value: T) => void, reject: (error: unknown) => void): void {
    if (this.#state === 'fulfilled') resolve(this.#value as T)
    else reject(this.#error)
  }

  #countsAsSignalled(waiter: Waiter): boolean {
    return waiter.hasSignal || this.hasSignal
  }

  #settle(): void {
    this.#ignoreSignal?.()
    if (this.site !== undefined) this.owner.callSites!.release(this.owner.worldRank)
    const { joint } = this
    const waiters = this.#waiters
    if (waiters !== undefined) {
      this.#waiters = undefined
      // The rank is awake from now on, even if its continuation has to wait for the next turn.
      for (const waiter of waiters) this.owner.unblock(this.#countsAsSignalled(waiter))
      for (const waiter of waiters) waiter.settled()
    }
    if (joint === undefined) return
    this.joint = undefined
    if (!joint.isOver) joint.settled(this)
  }
}

export function freedError(operation: Pending<unknown>): RankweaveError {
  const { communicatorName, name } = operation.owner
  const message = `${communicatorName} was freed before ${operation.call} of ${name} could complete`
  return new RankweaveError('ERR_COMM_FREED', message)
}
