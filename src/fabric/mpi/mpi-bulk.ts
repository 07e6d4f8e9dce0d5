import type { RankweaveError } from '../../errors.js'
import type { BulkTransfer } from '../fabric.js'
import type { MpiLibrary } from './mpi-library.js'
import { MpiMemory } from './mpi-memory.js'
import { padded } from './mpi-message.js'

interface Transfer {
  /** Retained for as long as MPI reads or writes it. */
  readonly buffer: Uint8Array
  /** Pieces that have not completed. */
  pieces: number
  resolve(): void
  reject(error: RankweaveError): void
}

/** MPI counts in ints; a transfer is cut into pieces of at most this size. */
const maxPieceBytes = 2 ** 30
const firstCapacity = 64

/**
 * Large payloads, from the sender's buffer into the receiver's by MPI: one MPI message each, whose tag is the transfer's
 * id. Both sides have agreed on it before, so MPI never has to retain an unexpected one.
 */
export class MpiBulk implements BulkTransfer {
  /** MPI messages begun to each process, and received from all. */
  readonly sentMessages: Int32Array
  received = 0
  readonly #library: MpiLibrary
  readonly #comm: number
  readonly #maxTag: number
  readonly #expectArrival: () => void
  /** By request, in the order of MPI's array: whose piece it is, and whether we send it. */
  readonly #pieces: { readonly transfer: Transfer; readonly sends: boolean }[] = []
  #memory: MpiMemory
  #capacity = firstCapacity
  #closed: RankweaveError | undefined
  #cancelled = false

  /** @param expectArrival called when a transfer begins, which polling has to complete */
  constructor(
    library: MpiLibrary,
    comm: number,
    processes: number,
    maxTag: number,
    expectArrival: () => void,
  ) {
    this.#expectArrival = expectArrival
    this.#library = library
    this.#comm = comm
    this.#maxTag = maxTag
    this.sentMessages = new Int32Array(processes)
    this.#memory = this.#allocate()
  }

  /** A transfer is in progress. */
  get moving(): boolean {
    return this.#pieces.length > 0
  }

  send(peer: number, transferId: number, buffer: Uint8Array): Promise<void> {
    return this.#begin(true, peer, transferId, buffer)
  }

  receive(peer: number, transferId: number, into: Uint8Array): Promise<void> {
    return this.#begin(false, peer, transferId, into)
  }

  /** Completes what MPI has completed; true if anything has. */
  progress(): boolean {
    const count = this.#pieces.length
    const { address, words } = this.#memory
    const outcountAt = padded(this.#capacity * 8)
    const { calls, abi } = this.#library
    calls.testsome(count, address, address + outcountAt, address + outcountAt + 8, abi.statusIgnore)
    const done = words[outcountAt >> 2]!
    if (done <= 0) return false
    const places = words.subarray((outcountAt >> 2) + 2, (outcountAt >> 2) + 2 + done)
    // From the last place to the first: what moves into a gap has been handled.
    for (const place of [...places].sort((a, b) => b - a)) this.#completed(place)
    return true
  }

  /** Rejects all transfers; what MPI still reads or writes is retained until `drained`. */
  close(error: RankweaveError): void {
    this.#closed = error
    for (const { transfer } of this.#pieces) transfer.reject(error)
  }

  /**
   * Once closed: receives and drops what others still send here, until `expected` messages have come; then cancels the
   * receives that no message will match. True when MPI has released every request.
   */
  drained(expected: number): boolean {
    if (this.moving) this.progress()
    if (!this.#cancelled) {
      while (this.received !== expected && this.#discardOne());
      if (this.received !== expected) return false
      this.#cancelled = true
      const { calls, abi } = this.#library
      this.#pieces.forEach(({ sends }, place) => {
        if (!sends) calls.cancel(this.#memory.address + place * abi.handleBytes)
      })
    }
    return !this.moving
  }

  /** Receives an unexpected message, if there is one. */
  #discardOne(): boolean {
    const { calls, abi, addressOf } = this.#library
    const memory = new MpiMemory(128, addressOf)
    const [flag, message, count, status] = [0, 8, 16, 64].map((at) => memory.address + at)
    calls.improbe(abi.anySource, abi.anyTag, this.#comm, flag!, message!, status!)
    if (memory.words[0] === 0) return false
    calls.getCount(status!, abi.byte, count!)
    const sizeBytes = memory.words[4]!
    const nowhere = new MpiMemory(Math.max(8, sizeBytes), addressOf)
    calls.mrecv(nowhere.address, sizeBytes, abi.byte, message!, abi.statusIgnore)
    this.received = (this.received + 1) | 0
    return true
  }

  #begin(sends: boolean, peer: number, transferId: number, buffer: Uint8Array): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.#closed !== undefined) return reject(this.#closed)
      const { calls, abi, addressOf } = this.#library
      const post = sends ? calls.isend : calls.irecv
      const tag = 1 + (transferId % this.#maxTag)
      const pieces = Math.max(1, Math.ceil(buffer.byteLength / maxPieceBytes))
      const transfer: Transfer = { buffer, pieces, resolve, reject }
      const begin = buffer.byteLength === 0 ? this.#memory.address : addressOf(buffer)
      for (let piece = 0; piece < pieces; piece++) {
        const from = piece * maxPieceBytes
        const size = Math.min(maxPieceBytes, buffer.byteLength - from)
        if (this.#pieces.length === this.#capacity) this.#grow()
        const request = this.#memory.address + this.#pieces.length * abi.handleBytes
        post(begin + from, size, abi.byte, peer, tag, this.#comm, request)
        this.#pieces.push({ transfer, sends })
        if (sends) this.sentMessages[peer]!++
      }
      this.#expectArrival()
    })
  }

  #completed(place: number): void {
    const { transfer, sends } = this.#pieces[place]!
    const last = this.#pieces.pop()!
    if (place < this.#pieces.length) {
      this.#pieces[place] = last
      const { handleBytes } = this.#library.abi
      const from = this.#pieces.length * handleBytes
      this.#memory.bytes.copyWithin(place * handleBytes, from, from + handleBytes)
    }
    if (!sends) this.received = (this.received + 1) | 0
    if (--transfer.pieces === 0) transfer.resolve()
  }

  #grow(): void {
    const old = this.#memory.bytes.subarray(0, this.#capacity * this.#library.abi.handleBytes)
    this.#capacity *= 2
    this.#memory = this.#allocate()
    this.#memory.bytes.set(old)
  }

  /** Handles, then the count and the places of those that completed. */
  #allocate(): MpiMemory {
    return new MpiMemory(padded(this.#capacity * 8) + 8 + this.#capacity * 4, this.#library.addressOf)
  }
}
