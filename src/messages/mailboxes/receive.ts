import { abortedError } from '../../base/abort.js'
import type { RankweaveError } from '../../errors.js'
import type { CheckedBuffer } from '../datatype/checked-buffers.js'
import type { ReceiveBuffer } from '../datatype/strided-view.js'
import type { Entry } from '../matching-queues/entry.js'
import type { ProcessCounters } from '../process/counters.js'
import { ANY_SOURCE, ANY_TAG } from './envelope.js'
import { type OperationOwner, Pending } from './pending.js'

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
