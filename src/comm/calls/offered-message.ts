import { RankweaveError } from '../../errors.js'
import { detachedError, type Incoming, type Outgoing } from '../transfer/transfer-sides.js'
import type { Transfers } from '../transfer/transfers.js'
import { describeSignature, type Signature } from './signature.js'

/** A message of a collective is offered in pieces of this size: one transfer carries less than 4 GiB. */
export const defaultPieceBytes = 2 ** 30

/** Notified of what becomes of the pieces it has offered. */
export interface Offerer {
  pieceSent(piece: OfferedPiece): void
  pieceFailed(piece: OfferedPiece, error: RankweaveError): void
}

/** One piece of a message that stays with its sender until the receiver's algorithm takes the message. */
export class OfferedPiece implements Outgoing {
  readonly process: number
  transferId = 0
  readonly #bytes: Uint8Array
  readonly #sizeBytes: number
  readonly #owner: Offerer

  constructor(owner: Offerer, process: number, bytes: Uint8Array) {
    this.#owner = owner
    this.process = process
    this.#bytes = bytes
    this.#sizeBytes = bytes.byteLength
  }

  begin(): Uint8Array | RankweaveError {
    if (this.#bytes.byteLength === this.#sizeBytes) return this.#bytes
    return detachedError()
  }

  sent(): void {
    this.#owner.pieceSent(this)
  }

  failed(error: RankweaveError): void {
    this.#owner.pieceFailed(this, error)
  }
}

/** A message that a process has offered to this one: all its pieces have arrived by name, none by content. */
export class OfferedMessage {
  readonly process: number
  readonly sizeBytes: number
  readonly #pieceBytes: number
  readonly #transferIds: number[] = []

  constructor(process: number, sizeBytes: number, pieceBytes: number) {
    this.process = process
    this.sizeBytes = sizeBytes
    this.#pieceBytes = pieceBytes
  }

  /** The next piece: true when no other is missing. */
  add(transferId: number): boolean {
    this.#transferIds.push(transferId)
    return this.#transferIds.length * this.#pieceBytes >= this.sizeBytes
  }

  /** Its sender need not send it. */
  decline(transfers: Transfers): void {
    for (const transferId of this.#transferIds) transfers.decline(this.process, transferId)
  }

  /** Ends a fetch, which then reports `error`. */
  abandon(transfers: Transfers, error: RankweaveError): void {
    for (const transferId of this.#transferIds) transfers.abandon(this.process, transferId, error)
  }

  /** @param into as long as the message; written until `fetched` reports that it is there or has failed */
  fetch(transfers: Transfers, into: Uint8Array, fetched: (error?: RankweaveError) => void): void {
    let missing = this.#transferIds.length
    let failure: RankweaveError | undefined
    const { process } = this
    const ended = (error?: RankweaveError) => {
      failure ??= error
      if (--missing === 0) fetched(failure)
      else if (error !== undefined) this.abandon(transfers, error)
    }
    this.#transferIds.forEach((transferId, piece) => {
      const at = piece * this.#pieceBytes
      const incoming: Incoming = {
        into: into.subarray(at, Math.min(at + this.#pieceBytes, into.byteLength)),
        landed: () => ended(),
        failed: ended,
        lost: () => new RankweaveError('ERR_REVOKED', `process ${process} has left the collective`),
      }
      transfers.fetch(process, transferId, incoming)
    })
  }
}

/** The error, on all processes, of a collective one of whose buffers was detached on world process `process`. */
export function detachedIn(signature: Signature, process: number): RankweaveError {
  const call = describeSignature(signature)
  return new RankweaveError(
    'ERR_TYPE',
    `${call}: a buffer was detached on process ${process} before it completed`,
    { details: { process } },
  )
}
