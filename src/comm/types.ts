import type { StridedView } from './datatype/payload.js'

/** Receive from whoever sent first. MPI-4.1 §3.2.4. */
export const ANY_SOURCE = -1
/** Receive whatever the tag. MPI-4.1 §3.2.4. */
export const ANY_TAG = -1
/** A neighbor that is not there: sends to it and receives from it complete at once, with no data. MPI-4.1 §3.10. */
export const PROC_NULL = -2
/** Largest tag a user may send with (MPI_TAG_UB). */
export const maxTag = 0x7fffffff

export type TypedArray =
  | Int8Array
  | Uint8Array
  | Uint8ClampedArray
  | Int16Array
  | Uint16Array
  | Int32Array
  | Uint32Array
  | Float32Array
  | Float64Array
  | BigInt64Array
  | BigUint64Array

/**
 * What a message can carry: a typed array (its elements travel, not its buffer), a strided view of one
 * (MPI_Type_vector), or any other value that the structured clone algorithm takes.
 */
export type Sendable = TypedArray | StridedView | unknown

/** Where a receive may put elements: a typed array, or a strided view that scatters them. */
export type ReceiveBuffer = TypedArray | StridedView

export interface WaitOptions {
  /** Ends the wait with ERR_ABORTED. On a collective this also revokes the communicator (decision 10). */
  readonly signal?: AbortSignal
}

export interface RecvOptions<B extends ReceiveBuffer = ReceiveBuffer> extends WaitOptions {
  /**
   * Filled from its start instead of a fresh array. Must have the sender's element type (ERR_TYPE_MISMATCH) and
   * room for the whole message (ERR_TRUNCATE); what the message does not reach keeps its value.
   */
  readonly into?: B
}

/** Envelope of a message. MPI_Status. */
export interface Status {
  /** Rank of the sender in the communicator of the receive; PROC_NULL for a receive from PROC_NULL. */
  readonly source: number
  readonly tag: number
  /** Elements of a typed array; 1 for any other value. */
  readonly count: number
  /** Payload bytes. */
  readonly sizeBytes: number
}

export interface Message<T = unknown> extends Status {
  /** The `into` buffer if one was given, else a fresh array or value that nobody else holds. */
  readonly data: T
}

/** Collectives over the given ranks: what a wait-free signature check compares between ranks. */
export type CollectiveName =
  | 'barrier'
  | 'bcast'
  | 'reduce'
  | 'allreduce'
  | 'gather'
  | 'gatherv'
  | 'scatter'
  | 'scatterv'
  | 'allgather'
  | 'allgatherv'
  | 'alltoall'
  | 'alltoallv'
  | 'reduceScatter'
  | 'scan'
  | 'exscan'
  | 'split'
  | 'splitType'
  | 'dup'
  | 'create'
  | 'free'
  | 'topology'
  | 'planLines'
  | 'neighborAllgather'
  | 'neighborAllgatherv'
  | 'neighborAllgatherInit'

/** `data` holds the blocks of all ranks in rank order; block r has `counts[r]` elements from `displs[r]`. */
export interface Gathered<T = unknown> {
  readonly data: T
  readonly counts: Int32Array
  readonly displs: Int32Array
}

export type Comparison = 'ident' | 'congruent' | 'similar' | 'unequal'

/** What one rank did on any communicator since the world started. */
export interface RankCounters {
  messagesSent: number
  messagesReceived: number
  bytesSent: number
  bytesReceived: number
  collectives: number
}

/** What one process did: frames are what its fabric really carried, copies what this layer moved in memory. */
export interface ProcessCounters {
  framesSent: number
  framesReceived: number
  frameBytesSent: number
  frameBytesReceived: number
  /** Point-to-point messages between ranks of this process, which no frame carried. */
  messagesInProcess: number
  /** Payload bytes copied by sends, receives and collectives of this process. */
  bytesCopied: number
}
