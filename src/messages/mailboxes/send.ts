import { RankweaveError } from '../../errors.js'
import type { Payload } from '../datatype/payload.js'
import { StridedView } from '../datatype/strided-view.js'
import { type OperationOwner, Pending } from './pending.js'

/** The progress of a send. `queued`: its look-up is pending; `offered`: unmatched; `moving`: matched. */
export type SendStage = 'queued' | 'offered' | 'moving'

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
    this.fulfil()
  }

  protected withdraw(): void {}
}
