import { abortedError, misfitSignal, onAbort } from '../../base/abort.js'
import { RankweaveError } from '../../errors.js'
import type { CheckedBuffer } from '../datatype/checked-buffers.js'
import type { Payload } from '../datatype/payload.js'
import { type ReceiveBuffer, StridedView } from '../datatype/strided-view.js'
import type { Entry } from '../matching-queues/entry-list.js'
import type { CallSite, CallSites } from '../process/call-sites.js'
import type { ProcessCounters, RankCounters } from '../process/counters.js'
import { inTurn, resolvedInTurn } from '../process/progress.js'
import { ANY_SOURCE, ANY_TAG } from './envelope.js'

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

  fulfill(value: T): void {
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
    for (const waiter of waiters) this.owner.unblock(this.#countsAsSignaled(waiter))
    this.#signal = undefined
    for (const waiter of waiters) this.owner.block(this.#countsAsSignaled(waiter))
  }

  attach(waiter: Waiter): void {
    this.#waiters ??= []
    this.#waiters.push(waiter)
    this.owner.block(this.#countsAsSignaled(waiter))
  }

  detach(waiter: Waiter): void {
    const at = this.#waiters?.indexOf(waiter) ?? -1
    if (at < 0) return
    this.#waiters!.splice(at, 1)
    this.owner.unblock(this.#countsAsSignaled(waiter))
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

  #countsAsSignaled(waiter: Waiter): boolean {
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
      for (const waiter of waiters) this.owner.unblock(this.#countsAsSignaled(waiter))
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

export type ReceiveKind = 'recv' | 'probe' | 'mprobe'

export interface Receiver extends OperationOwner {
  readonly processCounters: ProcessCounters
  /** Takes back a receive that has no message yet; it then rejects with `error`. */
  withdrawReceive(receive: Receive<unknown>, error: RankweaveError): void
  /** Gives up a receive whose message is in flight: it rejects with `error` once its buffer is no longer written. */
  abandonReceive(receive: Receive<unknown>, error: RankweaveError): void
}

/** A receive or a probe from its start until it has its message. */
export class Receive<T> extends Pending<T> implements Entry {
  declare readonly owner: Receiver
  readonly kind: ReceiveKind
  readonly source: number
  readonly tag: number
  readonly into: ReceiveBuffer | undefined
  /** The bytes of `into`, if short messages are copied straight into them. */
  readonly landing: CheckedBuffer | undefined
  order = 0
  listed = false
  previous: Entry | undefined = undefined
  next: Entry | undefined = undefined

  constructor(
    owner: Receiver,
    kind: ReceiveKind,
    source: number,
    tag: number,
    into?: ReceiveBuffer,
    landing?: CheckedBuffer,
  ) {
    super(owner)
    this.kind = kind
    this.source = source
    this.tag = tag
    this.into = into
    this.landing = landing
  }

  override get settlesInFrame(): boolean {
    return true
  }

  get call(): string {
    const source = this.source === ANY_SOURCE ? 'any' : this.source
    const tag = this.tag === ANY_TAG ? 'any' : this.tag
    return `${this.kind}(source ${source}, tag ${tag})`
  }

  accepts(message: { readonly source: number; readonly tag: number }): boolean {
    return (
      (this.source === ANY_SOURCE || this.source === message.source) &&
      (this.tag === ANY_TAG || this.tag === message.tag)
    )
  }

  /**
   * Cancels the receive. A signal also ends a receive whose message is in flight; `Request.cancel` comes too late for
   * that.
   */
  override cancel(signal?: AbortSignal): void {
    super.cancel(signal)
    if (signal !== undefined && !this.settled)
      this.owner.abandonReceive(this, abortedError(this.call, signal))
  }

  protected withdraw(error: RankweaveError): void {
    this.owner.withdrawReceive(this, error)
  }
}

/** The progress of a send. `queued`: its look-up is pending; `offered`: unmatched; `moving`: matched. */
type SendStage = 'queued' | 'offered' | 'moving'

export interface Sender extends OperationOwner {
  /** Takes an unmatched send back, if that is still possible; it then rejects with `error`. */
  withdrawSend(send: Send, error: RankweaveError): void
}

/** The message of a send, as its sender sees it in the queue of a receiver in this process. */
export interface QueuedMessage {
  readonly listed: boolean
  leaveQueue(): void
}

/** A send from its start until its data may be changed again. */
export class Send extends Pending<void> {
  declare readonly owner: Sender
  readonly payload: Payload
  readonly dest: number
  readonly tag: number
  readonly synchronous: boolean
  stage: SendStage = 'queued'
  message: QueuedMessage | undefined
  /** The process of the receiver and the id of the transfer, for a receiver elsewhere. */
  process = -1
  transferId = 0
  /** The error of a `cancel` that the receiver has not replied to yet. */
  cancelledBy: RankweaveError | undefined

  constructor(owner: Sender, payload: Payload, dest: number, tag: number, synchronous: boolean) {
    super(owner)
    this.payload = payload
    this.dest = dest
    this.tag = tag
    this.synchronous = synchronous
  }

  override get settlesInFrame(): boolean {
    return true
  }

  get call(): string {
    return `${this.synchronous ? 'ssend' : 'send'}(dest ${this.dest}, tag ${this.tag})`
  }

  /** False when the buffer was detached or transferred while the send was pending. */
  get isIntact(): boolean {
    const { data, sizeBytes } = this.payload
    if (!(data instanceof StridedView)) return data.byteLength === sizeBytes
    return data.array.length > 0 || sizeBytes === 0
  }

  detachedError(): RankweaveError {
    const message = `${this.call}: the buffer was detached before the message was received`
    return new RankweaveError('ERR_TYPE', message)
  }

  protected withdraw(error: RankweaveError): void {
    this.owner.withdrawSend(this, error)
  }
}

/** A send that was complete when its call returned. */
export class Sent extends Pending<void> {
  readonly call = 'send'

  constructor(owner: OperationOwner) {
    super(owner)
    this.fulfill()
  }

  protected withdraw(): void {}
}
