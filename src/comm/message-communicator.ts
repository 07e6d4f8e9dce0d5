import type { Sendable } from '../messages/datatype/payload.js'
import type { ReceiveBuffer } from '../messages/datatype/strided-view.js'
import type { Message, RecvOptions, Status } from '../messages/matching/arrived.js'
import { ANY_SOURCE, ANY_TAG } from '../messages/matching/envelope.js'
import type { MatchedMessage } from '../messages/p2p/matched-message.js'
import * as p2p from '../messages/p2p/point-to-point.js'
import type { Request } from '../messages/p2p/request.js'
import type { WaitOptions } from '../messages/process/abort.js'
import { RankCommunicator } from './rank-communicator.js'

/**
 * Tags of the two messages of a `sendrecv`. Default: 0 for the one that is sent, any for the one that is
 * received.
 */
export interface SendrecvTags {
  readonly sendTag?: number
  readonly recvTag?: number
}

/** Messages between the ranks of a communicator (MPI-4.1 §3). */
export abstract class MessageCommunicator extends RankCommunicator {
  /**
   * Sends to `dest`. Resolves when the data may be changed again: at once for payloads up to the eager limit,
   * else when the receive has taken it.
   *
   * @throws ERR_CLONE for a value that structured clone rejects
   * @see MPI-4.1 §3.2.1
   */
  send(data: Sendable, dest: number, tag = 0, options?: WaitOptions): Promise<void> {
    return p2p.send(this, data, dest, tag, 'standard', options)
  }

  /** Like `send`, but resolves only when a receive has matched. @see MPI-4.1 §3.4 (MPI_Ssend) */
  ssend(data: Sendable, dest: number, tag = 0, options?: WaitOptions): Promise<void> {
    return p2p.send(this, data, dest, tag, 'synchronous', options)
  }

  /**
   * Starts a send. It takes its place in the order of messages now; `signal` cancels it.
   * @see MPI-4.1 §3.7.2
   */
  isend(data: Sendable, dest: number, tag = 0, options?: WaitOptions): Request<void> {
    return p2p.isend(this, data, dest, tag, 'standard', options)
  }

  /** Starts a synchronous send. @see MPI-4.1 §3.7.2 (MPI_Issend) */
  issend(data: Sendable, dest: number, tag = 0, options?: WaitOptions): Request<void> {
    return p2p.isend(this, data, dest, tag, 'synchronous', options)
  }

  /**
   * Receives the earliest message that matches `source` and `tag`. Messages of one sender that match the same
   * receive never overtake each other.
   *
   * With `into`, element type and length of the message are checked. Without it, `T` is what the caller
   * expects; the sender decides what arrives.
   *
   * @throws ERR_TRUNCATE when `into` is too small; the message is consumed, `into` is untouched
   * @throws ERR_TYPE_MISMATCH when `into` has another element type than was sent
   * @see MPI-4.1 §3.2.4, §3.5
   */
  recv<B extends ReceiveBuffer>(
    source: number,
    tag: number,
    options: RecvOptions<B> & { readonly into: B },
  ): Promise<Message<B>>
  recv<T = unknown>(source?: number, tag?: number, options?: WaitOptions): Promise<Message<T>>
  recv(source: number, tag: number, options: RecvOptions): Promise<Message>
  recv(source = ANY_SOURCE, tag = ANY_TAG, options?: RecvOptions): Promise<Message> {
    return p2p.recv(this, source, tag, options)
  }

  /**
   * Starts a receive; receives match in the order they were started; `signal` cancels it.
   * @see MPI-4.1 §3.7.2
   */
  irecv<B extends ReceiveBuffer>(
    source: number,
    tag: number,
    options: RecvOptions<B> & { readonly into: B },
  ): Request<Message<B>>
  irecv<T = unknown>(source?: number, tag?: number, options?: WaitOptions): Request<Message<T>>
  irecv(source: number, tag: number, options: RecvOptions): Request<Message>
  irecv(source = ANY_SOURCE, tag = ANY_TAG, options?: RecvOptions): Request<Message> {
    return p2p.irecv(this, source, tag, options)
  }

  /** Sends and receives at once, so that rings and shifts cannot deadlock. @see MPI-4.1 §3.10 */
  sendrecv<B extends ReceiveBuffer>(
    data: Sendable,
    dest: number,
    source: number,
    options: SendrecvTags & RecvOptions<B> & { readonly into: B },
  ): Promise<Message<B>>
  sendrecv<T = unknown>(
    data: Sendable,
    dest: number,
    source: number,
    options?: SendrecvTags & WaitOptions,
  ): Promise<Message<T>>
  sendrecv(
    data: Sendable,
    dest: number,
    source: number,
    options: SendrecvTags & RecvOptions,
  ): Promise<Message>
  sendrecv(
    data: Sendable,
    dest: number,
    source: number,
    options: SendrecvTags & RecvOptions = {},
  ): Promise<Message> {
    return p2p.sendrecv(this, data, dest, source, options)
  }

  /** Waits for a message without receiving it. @see MPI-4.1 §3.8.1 */
  probe(source = ANY_SOURCE, tag = ANY_TAG, options?: WaitOptions): Promise<Status> {
    return p2p.probe(this, source, tag, options)
  }

  /** Polls for a message without waiting; a loop of polls lets timers and I/O run. @see MPI-4.1 §3.8.1 */
  iprobe(source = ANY_SOURCE, tag = ANY_TAG): Promise<Status | null> {
    return p2p.iprobe(this, source, tag)
  }

  /**
   * Waits for a message and takes it out of matching; only `recv` of the result gets it.
   * @see MPI-4.1 §3.8.2
   */
  mprobe(source = ANY_SOURCE, tag = ANY_TAG, options?: WaitOptions): Promise<MatchedMessage> {
    return p2p.mprobe(this, source, tag, options)
  }

  /** Polls for a message and takes it out of matching if there is one. @see MPI-4.1 §3.8.2 */
  improbe(source = ANY_SOURCE, tag = ANY_TAG): Promise<MatchedMessage | null> {
    return p2p.improbe(this, source, tag)
  }
}
