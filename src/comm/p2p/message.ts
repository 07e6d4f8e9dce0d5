import type { RankweaveError } from '../../errors.js'
import type { Entry } from '../../matching/entry-list.js'
import { ANY_SOURCE, ANY_TAG } from '../../matching/wildcards.js'
import type { TypedArray } from '../datatype/elements.js'
import type { Payload } from '../datatype/payload.js'
import type { ReceiveBuffer } from '../datatype/strided-view.js'
import type { Envelope } from './delivery.js'
import type { Mailbox } from './mailbox.js'
import { Pending } from './pending.js'
import type { Status } from './received-message.js'

/** How far a send has come. `queued`: its look-up is pending; `offered`: unmatched; `moving`: matched. */
export type SendStage = 'queued' | 'offered' | 'moving'

/** A send from its start until its data may be changed again. */
export class Send extends Pending<void> {
  readonly payload: Payload
  readonly dest: number
  readonly tag: number
  readonly synchronous: boolean
  stage: SendStage = 'queued'
  /** The envelope in the receiver's mailbox, for a receiver in this process. */
  envelope: Arrived | undefined
  /** Process of the receiver and name of the transfer, for one elsewhere. */
  process = -1
  transferId = 0
  /** What `cancel` was asked with, while the receiver's answer is under way. */
  cancelledBy: RankweaveError | undefined

  constructor(owner: Mailbox, payload: Payload, dest: number, tag: number, synchronous: boolean) {
    super(owner)
    this.payload = payload
    this.dest = dest
    this.tag = tag
    this.synchronous = synchronous
  }

  get call(): string {
    return `${this.synchronous ? 'ssend' : 'send'}(dest ${this.dest}, tag ${this.tag})`
  }

  protected withdraw(error: RankweaveError): void {
    this.owner.state.matching.withdrawSend(this, error)
  }
}

/** A send that was done when its call returned. */
export class Sent extends Pending<void> {
  readonly call = 'send'

  constructor(owner: Mailbox) {
    super(owner)
    this.fulfil()
  }

  protected withdraw(): void {}
}

export type ReceiveKind = 'recv' | 'probe' | 'mprobe'

/** A receive or a probe from its start until it has its message. */
export class Receive<T> extends Pending<T> implements Entry {
  readonly kind: ReceiveKind
  readonly source: number
  readonly tag: number
  readonly into: ReceiveBuffer | undefined
  order = 0
  listed = false
  previous: Entry | undefined = undefined
  next: Entry | undefined = undefined

  constructor(owner: Mailbox, kind: ReceiveKind, source: number, tag: number, into?: ReceiveBuffer) {
    super(owner)
    this.kind = kind
    this.source = source
    this.tag = tag
    this.into = into
  }

  get call(): string {
    const source = this.source === ANY_SOURCE ? 'any' : this.source
    const tag = this.tag === ANY_TAG ? 'any' : this.tag
    return `${this.kind}(source ${source}, tag ${tag})`
  }

  accepts(message: Arrived): boolean {
    return (
      (this.source === ANY_SOURCE || this.source === message.source) &&
      (this.tag === ANY_TAG || this.tag === message.tag)
    )
  }

  protected withdraw(error: RankweaveError): void {
    this.owner.state.matching.withdrawReceive(this, error)
  }
}

/** Where the data of a message that waits for its receive is. */
export type Content =
  /** Here, in memory that is ours; eager payload of `process`, to be credited when consumed. */
  | {
      readonly kind: 'held'
      readonly data: TypedArray
      readonly process: number
      readonly transferId: number
      readonly acknowledge: boolean
    }
  /** On its way here, in more than one frame; becomes `held`. `receive` has matched it already. */
  | {
      readonly kind: 'filling'
      readonly data: TypedArray
      readonly process: number
      readonly transferId: number
      readonly acknowledge: boolean
      filledBytes: number
      receive?: Receive<unknown>
    }
  /** With its sender, in this process. */
  | { readonly kind: 'local'; readonly send: Send }
  /** With its sender, in another process. */
  | {
      readonly kind: 'remote'
      readonly process: number
      readonly transferId: number
      /** The sender's own memory, where it can be read from here. */
      readonly bytes?: Uint8Array
    }
  /** Nowhere: it was taken by `recv`, or can no longer come. */
  | { readonly kind: 'gone'; readonly error: RankweaveError }

/** A message that came before its receive. */
export class Arrived implements Entry {
  readonly mailbox: Mailbox
  readonly source: number
  readonly tag: number
  readonly type: number
  readonly countElems: number
  readonly sizeBytes: number
  content: Content
  order = 0
  listed = false
  previous: Entry | undefined = undefined
  next: Entry | undefined = undefined

  constructor(mailbox: Mailbox, envelope: Envelope, content: Content) {
    this.mailbox = mailbox
    this.source = envelope.source
    this.tag = envelope.tag
    this.type = envelope.type
    this.countElems = envelope.countElems
    this.sizeBytes = envelope.sizeBytes
    this.content = content
  }

  get status(): Status {
    return { source: this.source, tag: this.tag, count: this.countElems, sizeBytes: this.sizeBytes }
  }
}
