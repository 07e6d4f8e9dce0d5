import { abortedError, requireWaitOptions, type WaitOptions } from '../../base/abort.js'
import { RankweaveError } from '../../errors.js'
import { requireReceiveBuffer } from '../datatype/payload.js'
import type { ReceiveBuffer } from '../datatype/strided-view.js'
import {
  type Arrived,
  type Message,
  type RecvOptions,
  recvOptions,
  type Status,
} from '../mailboxes/arrived.js'
import { ANY_TAG, PROC_NULL } from '../mailboxes/envelope.js'
import type { Mailbox } from '../mailboxes/mailbox.js'
import { Receive } from '../mailboxes/pending-operation.js'
import type { Matching } from './message-matching.js'
import { Request } from './request.js'

/**
 * A message that a matched probe has removed from matching: no other receive can get it.
 *
 * @see MPI-4.1 §3.8.2
 */
export class MatchedMessage implements Status {
  readonly source: number
  readonly tag: number
  readonly count: number
  readonly sizeBytes: number
  readonly #owner: Mailbox
  readonly #matching: Matching
  readonly #message: Arrived | null
  #received = false

  /** Makes a matched message; null stands for that of PROC_NULL. Programs get them from `mprobe` and `improbe`. */
  constructor(owner: Mailbox, matching: Matching, message: Arrived | null) {
    this.source = message?.source ?? PROC_NULL
    this.tag = message?.tag ?? ANY_TAG
    this.count = message?.countElems ?? 0
    this.sizeBytes = message?.sizeBytes ?? 0
    this.#owner = owner
    this.#matching = matching
    this.#message = message
  }

  /**
   * Receives the message.
   *
   * @param options a `signal` that aborts before the call makes it fail; once started, the receive cannot be cancelled
   * @throws ERR_REQUEST the second time; ERR_TRUNCATE, ERR_TYPE_MISMATCH as `recv`
   * @see MPI-4.1 §3.8.3 (MPI_Mrecv)
   */
  recv<B extends ReceiveBuffer>(options: RecvOptions<B> & { readonly into: B }): Promise<Message<B>>
  recv<T = unknown>(options?: WaitOptions): Promise<Message<T>>
  recv(options: RecvOptions): Promise<Message>
  recv(options?: RecvOptions): Promise<Message> {
    try {
      return this.irecv(options).wait()
    } catch (error) {
      return Promise.reject(error)
    }
  }

  /**
   * Starts to receive the message.
   *
   * @throws ERR_REQUEST the second time
   * @see MPI-4.1 §3.8.3 (MPI_Imrecv)
   */
  irecv<B extends ReceiveBuffer>(options: RecvOptions<B> & { readonly into: B }): Request<Message<B>>
  irecv<T = unknown>(options?: WaitOptions): Request<Message<T>>
  irecv(options: RecvOptions): Request<Message>
  irecv(options: RecvOptions = {}): Request<Message> {
    const { into, signal } = options
    if (this.#received) {
      const message = `the message of rank ${this.source} with tag ${this.tag} has been received already`
      throw new RankweaveError('ERR_REQUEST', message)
    }
    requireWaitOptions('recv', options, recvOptions)
    if (into !== undefined) requireReceiveBuffer(into)
    const receive = new Receive<Message>(this.#owner, 'recv', this.source, this.tag, into)
    if (signal?.aborted) throw abortedError(receive.call, signal)
    this.#received = true
    if (this.#message === null) receive.fulfill(nothingFrom(into))
    else this.#matching.receiveExtracted(this.#message, receive)
    return new Request(receive)
  }
}

/** A matched probe. It is fulfilled with the message that it removes from matching, null for PROC_NULL. */
export class MatchedProbe extends Receive<unknown> {
  readonly #mailbox: Mailbox
  readonly #matching: Matching

  constructor(mailbox: Mailbox, matching: Matching, source: number, tag: number) {
    super(mailbox, 'mprobe', source, tag)
    this.#mailbox = mailbox
    this.#matching = matching
  }

  override fulfill(message: unknown): void {
    super.fulfill(new MatchedMessage(this.#mailbox, this.#matching, message as Arrived | null))
  }
}

/** Returns the message of a receive from PROC_NULL. */
export function nothingFrom(into: ReceiveBuffer | undefined): Message {
  return { source: PROC_NULL, tag: ANY_TAG, count: 0, sizeBytes: 0, data: into ?? null }
}
