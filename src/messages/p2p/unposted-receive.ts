import type { CheckedBuffer } from '../datatype/checked-buffers.js'
import type { ReceiveBuffer } from '../datatype/strided-view.js'
import type { Message } from '../mailboxes/arrived.js'
import { ANY_SOURCE, ANY_TAG } from '../mailboxes/envelope.js'
import type { Mailbox } from '../mailboxes/mailbox.js'
import { Receive } from '../mailboxes/receive.js'

/** A receive whose rank polls for its message before it waits: it is posted only when another message must see it. */
export class UnpostedReceive {
  /** Undefined while there is no such receive. */
  owner: Mailbox | undefined
  into: ReceiveBuffer | undefined
  /** Undefined if messages cannot be copied into `into` directly. */
  landing: CheckedBuffer | undefined
  posted: Receive<Message> | undefined
  /** The message that was found, in fields; `message` makes the object. */
  data: ReceiveBuffer | undefined
  source = 0
  tag = 0
  count = 0
  sizeBytes = 0
  isFound = false
  #fromSource = 0
  #withTag = 0

  get settled(): boolean {
    return this.isFound || this.posted?.settled === true
  }

  begin(
    owner: Mailbox,
    source: number,
    tag: number,
    into: ReceiveBuffer | undefined,
    landing: CheckedBuffer | undefined,
  ): void {
    this.owner = owner
    this.#fromSource = source
    this.#withTag = tag
    this.into = into
    this.landing = landing
  }

  accepts(source: number, tag: number): boolean {
    return (
      (this.#fromSource === source || this.#fromSource === ANY_SOURCE) &&
      (this.#withTag === tag || this.#withTag === ANY_TAG)
    )
  }

  found(source: number, tag: number, count: number, sizeBytes: number, data: ReceiveBuffer): void {
    this.source = source
    this.tag = tag
    this.count = count
    this.sizeBytes = sizeBytes
    this.data = data
    this.isFound = true
    this.owner = undefined
  }

  /**
   * The message as an object, made when it is handed on: storing a young object in an old one costs more than making
   * it.
   */
  get message(): Message {
    const { source, tag, count, sizeBytes, data } = this
    return { source, tag, count, sizeBytes, data }
  }

  post(): void {
    const { owner } = this
    if (owner === undefined) return
    this.owner = undefined
    this.posted = new Receive<Message>(
      owner,
      'recv',
      this.#fromSource,
      this.#withTag,
      this.into,
      this.landing,
    )
    owner.posted.add(this.posted)
  }

  /** Releases everything. */
  end(): void {
    this.owner = undefined
    this.into = undefined
    this.landing = undefined
    this.data = undefined
    this.isFound = false
    this.posted = undefined
  }
}
