import type { Mailbox } from './mailbox.js'
import { Receive } from './message.js'
import { ANY_SOURCE, ANY_TAG, type Message, type ReceiveBuffer } from './types.js'

const none = new Uint8Array(0)
/** Of a buffer that no message is simply copied into. */
const noType = -1

/** A receive whose rank looks for its message before it waits: it is posted only when somebody else must see it. */
export class Sought {
  /** None while nothing is sought. */
  owner: Mailbox | undefined
  into: ReceiveBuffer | undefined
  /** Element type of `into`, and its bytes. */
  type: number = noType
  bytes: Uint8Array = none
  message: Message | undefined
  posted: Receive<Message> | undefined
  #source = 0
  #tag = 0

  get settled(): boolean {
    return this.message !== undefined || this.posted?.settled === true
  }

  begin(owner: Mailbox, source: number, tag: number, into: ReceiveBuffer | undefined): void {
    this.owner = owner
    this.#source = source
    this.#tag = tag
    this.into = into
  }

  accepts(source: number, tag: number): boolean {
    return (
      (this.#source === source || this.#source === ANY_SOURCE) && (this.#tag === tag || this.#tag === ANY_TAG)
    )
  }

  found(message: Message): void {
    this.message = message
    this.owner = undefined
  }

  post(): void {
    const { owner } = this
    if (owner === undefined) return
    this.owner = undefined
    this.posted = new Receive<Message>(owner, 'recv', this.#source, this.#tag, this.into)
    owner.posted.add(this.posted)
  }

  /** Lets go of everything. */
  end(): void {
    this.owner = undefined
    this.into = undefined
    this.type = noType
    this.bytes = none
    this.message = undefined
    this.posted = undefined
  }
}
