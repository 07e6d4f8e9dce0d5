import type { ReceiveBuffer } from '../datatype/strided-view.js'
import type { WaitOptions } from '../process/wait-options.js'

export interface RecvOptions<B extends ReceiveBuffer = ReceiveBuffer> extends WaitOptions {
  /**
   * Filled from its start instead of a fresh array. Must have the sender's element type (ERR_TYPE_MISMATCH)
   * and room for the whole message (ERR_TRUNCATE); elements beyond the message keep their values.
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
  /** The `into` buffer if one was given, else a fresh array or value without any other owner. */
  readonly data: T
}
