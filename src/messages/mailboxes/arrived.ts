import { type WaitOptions, waitOptions } from '../../base/abort.js'
import { type OptionTable, uncheckedOptions } from '../../base/option.js'
import { RankweaveError } from '../../errors.js'
import type { MemoryLocation } from '../../fabric/fabric.js'
import type { TypedArray } from '../datatype/elements.js'
import type { ReceiveBuffer } from '../datatype/strided-view.js'
import type { Entry, MatchingList } from '../matching-queues/entry-list.js'
import type { MatchingWatch } from '../process/matching-traces.js'
import type { Incoming } from '../process/transfers.js'
import type { Envelope } from './envelope.js'
import type { QueuedMessage, Receive, Send } from './pending-operation.js'

export interface RecvOptions<B extends ReceiveBuffer = ReceiveBuffer> extends WaitOptions {
  /**
   * Filled from its start instead of a fresh array. Must have the sender's element type (ERR_TYPE_MISMATCH) and room
   * for the whole message (ERR_TRUNCATE); elements beyond the message keep their values.
   */
  readonly into?: B
}

export const recvOptions: OptionTable<RecvOptions> = { ...waitOptions, ...uncheckedOptions('into') }

/** The envelope of a message. MPI_Status. */
export interface Status {
  /** The rank of the sender in the communicator of the receive; PROC_NULL for a receive from PROC_NULL. */
  readonly source: number
  readonly tag: number
  /** The number of elements of a typed array; 1 for any other value. */
  readonly count: number
  /** The payload bytes. */
  readonly sizeBytes: number
}

export interface Message<T = unknown> extends Status {
  /** The `into` buffer if one was given, otherwise a fresh array or value without any other owner. */
  readonly data: T
}

/** The place of the data of a message that waits for its receive. */
export type Content =
  /** The data are here, in separate memory: eager payload of `process`, to be credited when consumed. */
  | {
      readonly kind: 'held'
      readonly data: TypedArray
      /** The memory of `data`, if it is to be reused (`Scratch`) unless a receive retains it. */
      readonly scratch?: ArrayBuffer | undefined
      readonly process: number
      readonly transferId: number
      readonly acknowledge: boolean
    }
  /**
   * The data arrive in more than one frame. The content becomes `held`, unless `landing` is set: then the data go
   * straight to the receive that had matched it before. `receive` has matched it since.
   */
  | {
      readonly kind: 'filling'
      readonly data: TypedArray
      readonly scratch?: ArrayBuffer | undefined
      readonly landing?: Incoming | undefined
      readonly process: number
      readonly transferId: number
      readonly acknowledge: boolean
      filledBytes: number
      receive?: Receive<unknown>
    }
  /** The data are with their sender, in this process. */
  | { readonly kind: 'local'; readonly send: Send }
  /** The data are with their sender, in another process. */
  | {
      readonly kind: 'remote'
      readonly process: number
      readonly transferId: number
      /** The sender's own memory, if it can be read from here. */
      readonly bytes?: Uint8Array
      /** The location of the data, if they can be copied from there. */
      readonly loan?: MemoryLocation
    }
  /** There are no data: the message was discarded, or can no longer arrive. */
  | { readonly kind: 'gone'; readonly error: RankweaveError }

/** A message that arrived before its receive. */
export class Arrived implements Entry, QueuedMessage {
  /** The queue in which it waits for its receive, while it is listed. */
  readonly queue: MatchingList<Arrived>
  readonly source: number
  readonly tag: number
  readonly type: number
  readonly countElems: number
  readonly sizeBytes: number
  content: Content
  /** Notes that it leaves its queue otherwise than by a receive. Undefined unless the world records matching. */
  watch: MatchingWatch | undefined = undefined
  order = 0
  listed = false
  previous: Entry | undefined = undefined
  next: Entry | undefined = undefined

  constructor(queue: MatchingList<Arrived>, envelope: Envelope, content: Content) {
    this.queue = queue
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

  leaveQueue(): void {
    this.watch?.mprobe(this.source, this.tag)
    this.queue.remove(this)
  }
}

/** Returns the error of a receive whose message's sender has detached the buffer. */
export function lostMessageError(source: number): RankweaveError {
  const message = `the message of rank ${source} is lost: its buffer was detached before it was received`
  return new RankweaveError('ERR_TYPE', message)
}
