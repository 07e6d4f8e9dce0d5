import { copyBytes } from '../base/bytes.js'
import type { RankweaveError } from '../errors.js'
import { type BulkMover, BulkPairing, type BulkSide, bulkRecord, detachedInTransfer } from './bulk-pairing.js'
import type { BulkRole, BulkTransfer } from './fabric.js'

/** The services that bulk transfers need from their process. */
export interface PieceHost {
  readonly process: number
  /** The most bytes that `write` takes. */
  readonly pieceBytes: number
  /** Sends a record without payload, now or as soon as there is space. */
  post(peer: number, kind: number, header: Int32Array): void
  /** Writes a piece to its way out; false when there is no space now. */
  write(
    peer: number,
    kind: number,
    header: Int32Array,
    payload: Uint8Array,
    from: number,
    to: number,
  ): boolean
  /** Schedules a turn that copies pieces, outside the current call. */
  schedule(): void
  lost(peer: number): RankweaveError | undefined
  /** Reports that a transfer has settled: a rank may be waiting for its promise. */
  settled(): void
}

/**
 * Moves large payloads piece by piece. The receiver reports that it is ready. Then the sender copies from the user's
 * buffer to the outgoing memory (a ring, a message). The receiver copies from there into its own. However little space
 * there is, nothing else is queued: the user's buffer is the queue. Both sides access their buffers only while they
 * copy a piece, so a cancelled side is released at once.
 */
export class PiecewiseBulk implements BulkTransfer, BulkMover {
  readonly process: number
  readonly #host: PieceHost
  readonly #pairing: BulkPairing
  /** The transfers in progress to each peer, served in order. */
  readonly #moving: BulkSide[][]
  #movingCount = 0

  constructor(host: PieceHost, processes: number) {
    this.process = host.process
    this.#host = host
    this.#pairing = new BulkPairing(this)
    this.#moving = Array.from({ length: processes }, () => [])
  }

  /** Whether anything is left to copy out. */
  get moving(): boolean {
    return this.#movingCount > 0
  }

  get idle(): boolean {
    return this.#pairing.idle
  }

  isMovingTo(peer: number): boolean {
    return this.#moving[peer].length > 0
  }

  send(peer: number, transferId: number, buffer: Uint8Array): Promise<void> {
    return this.#pairing.join('sender', peer, transferId, buffer)
  }

  receive(peer: number, transferId: number, into: Uint8Array): Promise<void> {
    return this.#pairing.join('receiver', peer, transferId, into)
  }

  cancel(role: BulkRole, peer: number, transferId: number, error: RankweaveError): void {
    this.#pairing.cancel(role, peer, transferId, error)
  }

  /** Handles a record of `bulkRecord`. Returns false, and does nothing, for a piece that exceeds its transfer. */
  record(src: number, kind: number, header: Int32Array, payload: Uint8Array): boolean {
    if (kind === bulkRecord.data) return this.#takePiece(src, header, payload)
    this.#pairing.record(src, kind, header)
    return true
  }

  /** Copies towards one peer as far as there is space. */
  pump(peer: number): void {
    const moving = this.#moving[peer]
    for (let side = moving[0]; side !== undefined; side = moving[0]) {
      if (side.buffer.byteLength !== side.sizeBytes) this.#pairing.end(side, detachedInTransfer(side))
      else if (!this.#move(side)) return
      else {
        moving.shift()
        this.#movingCount--
        this.#pairing.settle(side)
      }
    }
  }

  /** Fails the transfers with `peer`, or all of them. */
  fail(error: RankweaveError, peer?: number): void {
    this.#pairing.fail(error, peer)
  }

  post(peer: number, kind: number, header: Int32Array): void {
    this.#host.post(peer, kind, header)
  }

  lost(peer: number): RankweaveError | undefined {
    return this.#host.lost(peer)
  }

  settled(): void {
    this.#host.settled()
  }

  expect(): void {}

  begin(side: BulkSide): void {
    this.#moving[side.peer].push(side)
    this.#movingCount++
    this.#host.schedule()
  }

  halt(side: BulkSide): boolean {
    const moving = this.#moving[side.peer]
    const at = side.role === 'sender' ? moving.indexOf(side) : -1
    if (at >= 0) {
      moving.splice(at, 1)
      this.#movingCount--
    }
    return true
  }

  stopped(): boolean {
    return true
  }

  #takePiece(src: number, header: Int32Array, payload: Uint8Array): boolean {
    const side = this.#pairing.receiverOf(src, header)
    if (side === undefined) return true
    if (side.movedBytes + payload.byteLength > side.sizeBytes) return false
    if (side.buffer.byteLength !== side.sizeBytes) {
      this.#pairing.end(side, detachedInTransfer(side))
      return true
    }
    copyBytes(side.buffer, side.movedBytes, payload)
    side.movedBytes += payload.byteLength
    if (side.movedBytes === side.sizeBytes) this.#pairing.settle(side)
    return true
  }

  /** Copies pieces of a transfer; false when there is no space for the rest. */
  #move(side: BulkSide): boolean {
    const { peer, header, buffer, sizeBytes } = side
    const { pieceBytes } = this.#host
    do {
      const from = side.movedBytes
      const to = Math.min(sizeBytes, from + pieceBytes)
      if (!this.#host.write(peer, bulkRecord.data, header, buffer, from, to)) return false
      side.movedBytes = to
    } while (side.movedBytes < sizeBytes)
    return true
  }
}
