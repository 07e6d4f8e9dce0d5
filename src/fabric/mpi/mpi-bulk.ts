import type { RankweaveError } from '../../errors.js'
import {
  type BulkMover,
  BulkPairing,
  type BulkSide,
  bulkRecord,
  detachedInTransfer,
} from '../bulk-transfers.js'
import type { BulkRole, BulkTransfer } from '../fabric.js'
import type { MpiLibrary } from './mpi-library.js'
import { MpiMemory } from './mpi-memory.js'
import { padded } from './mpi-outbox.js'

/** The services that bulk transfers need from their process. */
interface BulkHost {
  readonly process: number
  /** Sends a record without payload. */
  post(peer: number, kind: number, header: Int32Array): void
  /** Announces a transfer, which polling has to complete. */
  expectArrival(): void
}

/** The state of one side in one round. */
interface Move {
  /** The side, whose buffer is retained for as long as MPI accesses it. */
  readonly side: BulkSide
  readonly pieces: number
  /** The number of pieces posted so far, and of those that have not completed. */
  posted: number
  inFlight: number
  /** Whether no further piece will be posted. */
  halted: boolean
}

/** A posted piece. */
interface Piece {
  readonly move: Move
  readonly index: number
  cancelled: boolean
}

/** The bytes of a piece: a cancelled transfer ends with the pieces in flight. */
const pieceBytes = 16 * 2 ** 20
/** The number of pieces that a sender posts at a time. */
const postedAtOnce = 4
const firstCapacity = 64

/**
 * Moves large payloads from the sender's buffer into the receiver's by MPI messages whose tag is the transfer's id. The
 * receiver posts its pieces before the sender begins, so MPI never has to retain an unexpected one.
 *
 * MPI cannot be stopped in a piece that has been matched. A cancelled sender waits for the pieces it has posted, a
 * cancelled receiver for those that its sender reports to have posted. The receiver cancels the rest of its pieces,
 * which no message can match.
 *
 * Nothing can retain the memory of a buffer that is detached meanwhile. MPI then accesses memory that its new owner may
 * have released, at most the pieces in flight; the side fails when they have completed.
 */
export class MpiBulk implements BulkTransfer, BulkMover {
  readonly process: number
  /** The number of MPI messages begun to each process. */
  readonly sentMessages: Int32Array
  received = 0
  readonly #host: BulkHost
  readonly #library: MpiLibrary
  readonly #comm: number
  readonly #maxTag: number
  readonly #pairing: BulkPairing
  readonly #moves = new Map<BulkSide, Move>()
  /** The pieces by request, in the order of MPI's array. */
  readonly #pieces: Piece[] = []
  /** Whether a transfer has settled since this was reset. */
  #settled = false
  #memory: MpiMemory
  #capacity = firstCapacity
  #closed: RankweaveError | undefined
  #cancelled = false

  constructor(library: MpiLibrary, comm: number, processes: number, maxTag: number, host: BulkHost) {
    this.process = host.process
    this.#host = host
    this.#library = library
    this.#comm = comm
    this.#maxTag = maxTag
    this.#pairing = new BulkPairing(this)
    this.sentMessages = new Int32Array(processes)
    this.#memory = this.#allocate()
  }

  /** Whether MPI accesses a buffer. */
  get moving(): boolean {
    return this.#pieces.length > 0
  }

  /** Whether there is anything for `progress`. */
  get active(): boolean {
    return this.#pieces.length > 0 || this.#settled
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

  /** Handles a record of `bulkRecord`. */
  record(src: number, kind: number, header: Int32Array): void {
    if (kind !== bulkRecord.data) {
      this.#pairing.record(src, kind, header)
      return
    }
    const side = this.#pairing.receiverOf(src, header)
    if (side !== undefined) this.#pairing.settle(side)
  }

  /** Completes what MPI has completed; true if a transfer has settled since the last call. */
  progress(): boolean {
    const { address, words } = this.#memory
    const outcountAt = padded(this.#capacity * 8)
    const { calls, abi } = this.#library
    const count = this.#pieces.length
    if (count > 0)
      calls.testsome(count, address, address + outcountAt, address + outcountAt + 8, abi.statusIgnore)
    const done = count > 0 ? words[outcountAt >> 2] : 0
    if (done > 0) {
      const places = words.subarray((outcountAt >> 2) + 2, (outcountAt >> 2) + 2 + done)
      // Descending places: the piece that moves into a gap has been handled.
      const pieces = [...places].sort((a, b) => b - a).map((place) => this.#take(place))
      for (const piece of pieces) this.#completed(piece)
    }
    const settled = this.#settled
    this.#settled = false
    return settled
  }

  /** Ends all transfers; those that MPI accesses reject when `drained` has released them. */
  close(error: RankweaveError): void {
    this.#closed = error
    this.#pairing.fail(error)
  }

  /**
   * Receives and drops, once closed, what others still send here, until `expected` messages have come. Then cancels the
   * receives that no message will match. Returns true when MPI has released every request.
   */
  drained(expected: number): boolean {
    if (this.moving) this.progress()
    if (!this.#cancelled) {
      while (this.received !== expected && this.#discardOne());
      if (this.received !== expected) return false
      this.#cancelled = true
      for (let place = 0; place < this.#pieces.length; place++) this.#cancelReceive(place)
    }
    return !this.moving
  }

  post(peer: number, kind: number, header: Int32Array): void {
    if (this.#closed === undefined) this.#host.post(peer, kind, header)
  }

  lost(): RankweaveError | undefined {
    return this.#closed
  }

  settled(): void {
    this.#settled = true
  }

  expect(side: BulkSide): void {
    const move = this.#moveOf(side)
    while (move.posted < move.pieces) this.#postPiece(move)
  }

  begin(side: BulkSide): void {
    if (side.sizeBytes === 0) {
      this.post(side.peer, bulkRecord.data, side.header)
      this.#pairing.settle(side)
      return
    }
    const move = this.#moveOf(side)
    while (move.posted < move.pieces && move.posted < postedAtOnce) this.#postPiece(move)
  }

  halt(side: BulkSide): boolean {
    const move = this.#moves.get(side)
    if (move === undefined) return true
    if (side.role === 'sender') move.halted = true
    if (move.inFlight === 0) this.#moves.delete(side)
    return move.inFlight === 0
  }

  stopped(side: BulkSide, movedBytes: number): boolean {
    const move = this.#moves.get(side)
    if (move === undefined) return true
    move.halted = true
    this.#pieces.forEach((piece, place) => {
      if (piece.move === move && piece.index * pieceBytes >= movedBytes) this.#cancelReceive(place)
    })
    return false
  }

  #moveOf(side: BulkSide): Move {
    const pieces = Math.ceil(side.sizeBytes / pieceBytes)
    const move: Move = { side, pieces, posted: 0, inFlight: 0, halted: false }
    if (pieces > 0) this.#moves.set(side, move)
    return move
  }

  #postPiece(move: Move): void {
    const { side, posted: index } = move
    const { calls, abi, addressOf } = this.#library
    const from = index * pieceBytes
    const size = Math.min(pieceBytes, side.sizeBytes - from)
    if (this.#pieces.length === this.#capacity) this.#grow()
    const request = this.#memory.address + this.#pieces.length * abi.handleBytes
    const tag = 1 + (side.transferId % this.#maxTag)
    const sends = side.role === 'sender'
    const post = sends ? calls.isend : calls.irecv
    post(addressOf(side.buffer) + from, size, abi.byte, side.peer, tag, this.#comm, request)
    this.#pieces.push({ move, index, cancelled: false })
    move.posted++
    move.inFlight++
    if (sends) {
      side.movedBytes = from + size
      this.sentMessages[side.peer]++
    }
    this.#host.expectArrival()
  }

  /** Removes a completed piece from MPI's array. */
  #take(place: number): Piece {
    const piece = this.#pieces[place]
    const last = this.#pieces.pop()!
    if (place < this.#pieces.length) {
      this.#pieces[place] = last
      const { handleBytes } = this.#library.abi
      const from = this.#pieces.length * handleBytes
      this.#memory.bytes.copyWithin(place * handleBytes, from, from + handleBytes)
    }
    return piece
  }

  #completed({ move, cancelled }: Piece): void {
    const { side } = move
    move.inFlight--
    if (side.role === 'receiver') {
      if (!cancelled) this.received = (this.received + 1) | 0
    } else if (!move.halted && move.posted < move.pieces) {
      if (side.buffer.byteLength === side.sizeBytes) this.#postPiece(move)
      else this.#pairing.end(side, detachedInTransfer(side))
    }
    if (move.inFlight > 0 || !this.#moves.delete(side)) return
    if (move.halted || side.error !== undefined) this.#pairing.released(side)
    else {
      // MPI may have read or written memory that was no longer the buffer's.
      if (side.buffer.byteLength !== side.sizeBytes) side.error = detachedInTransfer(side)
      this.#pairing.settle(side)
    }
  }

  #cancelReceive(place: number): void {
    const piece = this.#pieces[place]
    if (piece.cancelled || piece.move.side.role === 'sender') return
    piece.cancelled = true
    const { calls, abi } = this.#library
    calls.cancel(this.#memory.address + place * abi.handleBytes)
  }

  /** Receives an unexpected message, if there is one. */
  #discardOne(): boolean {
    const { calls, abi, addressOf } = this.#library
    const memory = new MpiMemory(128, addressOf)
    const [flag, message, count, status] = [0, 8, 16, 64].map((at) => memory.address + at)
    calls.improbe(abi.anySource, abi.anyTag, this.#comm, flag, message, status)
    if (memory.words[0] === 0) return false
    calls.getCount(status, abi.byte, count)
    const sizeBytes = memory.words[4]
    const nowhere = new MpiMemory(Math.max(8, sizeBytes), addressOf)
    calls.mrecv(nowhere.address, sizeBytes, abi.byte, message, abi.statusIgnore)
    this.received = (this.received + 1) | 0
    return true
  }

  #grow(): void {
    const old = this.#memory.bytes.subarray(0, this.#capacity * this.#library.abi.handleBytes)
    this.#capacity *= 2
    this.#memory = this.#allocate()
    this.#memory.bytes.set(old)
  }

  /** Allocates the handles, then the count and the places of completed requests. */
  #allocate(): MpiMemory {
    return new MpiMemory(padded(this.#capacity * 8) + 8 + this.#capacity * 4, this.#library.addressOf)
  }
}
