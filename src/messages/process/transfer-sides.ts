import { isRankweaveError, RankweaveError, reasonText } from '../../errors.js'
import type { Grantee } from './credit.js'
import type { StagedCopy } from './staging.js'

/** A payload that stays with its sender until its receiver is ready. Its owner has sent, or sends, the envelope. */
export interface Outgoing {
  readonly process: number
  /** A copy that the receiver may read at any time, until it declines the payload. The transfers release it. */
  readonly copy?: StagedCopy | undefined
  /**
   * Returns the payload when the receiver is ready, borrowed until `sent` or `failed`; or the reason why it can no
   * longer be sent, which then is the error of `failed`. Called at most once. A payload that is detached meanwhile
   * fails with an error that `isDetached`, if the fabric notices.
   */
  begin(): Uint8Array | RankweaveError
  /** Notes that the payload has been sent, or its receiver does not want it. */
  sent(): void
  failed(error: RankweaveError): void
}

export interface Incoming {
  /** The memory, filled entirely; its length is that of the payload. Written until `landed` or `failed`. */
  readonly into: Uint8Array
  landed(): void
  failed(error: RankweaveError): void
  /** Returns the error of a payload that its sender could not send. */
  lost(): RankweaveError
}

export type TransferOutcome = 'done' | RankweaveError

export interface OutgoingState {
  readonly outgoing: Outgoing
  /** Set once the receiver is ready. */
  bytes: Uint8Array | undefined
  /** The bytes of the payload, once the receiver is ready, since a detached buffer has no length. */
  sizeBytes: number
  sentBytes: number
  moves: boolean
  /** Set when the side is to end before all has been moved; it ends when the fabric has released the payload. */
  outcome: TransferOutcome | undefined
}

export interface IncomingState extends Grantee {
  readonly transferId: number
  readonly incoming: Incoming
  moves: boolean
  /** Whether the payload is here, and its sender has yet to report that it was intact. */
  readonly isCopied: boolean
  /** The reason the side is to end before all has come; it fails when the fabric has released the buffer. */
  error: RankweaveError | undefined
}

/** Tells whether a transfer failed because the buffer of this side was detached, which the peer does not know. */
export function isDetachedHere(cause: unknown): boolean {
  return isRankweaveError(cause, 'ERR_FABRIC') && cause.details['detached'] === true
}

export function transferError(cause: unknown): RankweaveError {
  if (isRankweaveError(cause)) return cause
  return new RankweaveError('ERR_FABRIC', `a transfer failed: ${reasonText(cause)}`, { cause })
}
