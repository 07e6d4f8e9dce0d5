import { copyBytes } from '../base/bytes.js'
import { RankweaveError } from '../errors.js'
import type { BulkRole, BulkTransfer } from './fabric.js'

/** The records between two processes that pair the sides of a transfer. They keep their order, as frames do. */
export const bulkRecord = {
  /** The receiver has joined. */
  ready: 1,
  /** The record carries bytes, on fabrics that move them in records. */
  data: 2,
  /** The receiver has left. */
  withdrawn: 3,
  /** The sender moves no more bytes of this round than the header states. */
  stopped: 4,
} as const

/** The words of a record. Sizes have a low word of 31 bits and a high one. */
const word = { transferId: 0, round: 1, size: 2, moved: 4, wantsReply: 6 } as const
const headerWords = 7

/** A side of a transfer, from its call until its promise settles. */
export interface BulkSide {
  readonly role: BulkRole
  readonly peer: number
  readonly transferId: number
  readonly buffer: Uint8Array
  readonly sizeBytes: number
  /** The header of the records that this side sends. */
  readonly header: Int32Array
  /** The round, a number that the receiver draws for what the two sides do together; 0 while a sender waits for one. */
  round: number
  movedBytes: number
  /** The reason of its end, once it has been cancelled. */
  error: RankweaveError | undefined
  readonly resolve: () => void
  readonly reject: (error: RankweaveError) => void
}

/** The carrier of the bytes of paired sides. */
export interface BulkMover {
  readonly process: number
  post(peer: number, kind: number, header: Int32Array): void
  lost(peer: number): RankweaveError | undefined
  /** Announces that a receiver is about to join: bytes of its round may arrive from now on. */
  expect(side: BulkSide): void
  /** Moves the bytes from the first on, once both sides have joined, and then calls `settle`. */
  begin(side: BulkSide): void
  /**
   * Moves no further bytes of this round. Returns true when the buffer is released; else `released` is called once it
   * is, for a receiver after its sender has replied (`stopped`).
   */
  halt(side: BulkSide): boolean
  /**
   * Reports that the sender has moved the first `movedBytes` of this round and stops there. Returns true when the
   * buffer is released.
   */
  stopped(side: BulkSide, movedBytes: number): boolean
  /** Reports that the promise of a side has settled: a rank may be waiting for it. */
  settled(): void
}

/**
 * Pairs the two sides of bulk transfers. A receiver draws a number for its round and announces itself. Its sender
 * begins when both have joined; records of other rounds are ignored. So a record of a transfer that has ended never
 * concerns a later one with the same id. Memory: an entry per side that has not settled. The sender's process also
 * holds one per receiver that has announced itself before its sender, at most 65,536 per process; the receiver's end
 * removes it.
 */
export class BulkPairing {
  readonly #mover: BulkMover
  readonly #senders = new Map<number, BulkSide>()
  readonly #receivers = new Map<number, BulkSide>()
  /** The receivers that joined before their senders. */
  readonly #ready = new Map<number, { readonly round: number; readonly sizeBytes: number }>()
  /** The number of such receivers, by process. */
  readonly #readyOf = new Map<number, number>()
  #lastRound = 0

  constructor(mover: BulkMover) {
    this.#mover = mover
  }

  /** Whether no side waits or moves. */
  get idle(): boolean {
    return this.#senders.size + this.#receivers.size + this.#ready.size === 0
  }

  join(role: BulkRole, peer: number, transferId: number, buffer: Uint8Array): Promise<void> {
    return new Promise((resolve, reject) => {
      const lost = this.#mover.lost(peer)
      if (lost !== undefined) return reject(lost)
      const sides = this.#sides(role)
      const key = keyOf(peer, transferId)
      if (sides.has(key)) return reject(this.#error(peer, transferId, `already has a ${role}`))
      const sizeBytes = buffer.byteLength
      const header = new Int32Array(headerWords)
      header[word.transferId] = transferId
      writeSize(header, word.size, sizeBytes)
      const side: BulkSide = {
        ...{ role, peer, transferId, buffer, sizeBytes, header, resolve, reject },
        round: 0,
        movedBytes: 0,
        error: undefined,
      }
      sides.set(key, side)
      if (role === 'receiver') this.#announce(side)
      else this.#pair(side)
    })
  }

  cancel(role: BulkRole, peer: number, transferId: number, error: RankweaveError): void {
    const side = this.#sides(role).get(keyOf(peer, transferId))
    if (side !== undefined) this.end(side, error)
  }

  /** Cancels a side. */
  end(side: BulkSide, error: RankweaveError): void {
    if (side.error !== undefined) return
    side.error = error
    const halted = side.round === 0 || this.#mover.halt(side)
    if (side.round !== 0) {
      if (side.role === 'receiver') this.#post(side, bulkRecord.withdrawn, halted ? 0 : 1)
      else this.#post(side, bulkRecord.stopped)
    }
    if (halted) this.settle(side)
  }

  /** Returns the side of a record with bytes, if the record is of a round in progress. */
  receiverOf(src: number, header: Int32Array): BulkSide | undefined {
    const side = this.#receivers.get(keyOf(src, header[word.transferId]))
    return side !== undefined && side.round === header[word.round] && side.error === undefined
      ? side
      : undefined
  }

  /**
   * Handles a record other than `data`.
   *
   * @throws ERR_PROTOCOL for a receiver more than a process may announce before their senders
   */
  record(src: number, kind: number, header: Int32Array): void {
    const key = keyOf(src, header[word.transferId])
    const round = header[word.round]
    if (kind === bulkRecord.stopped) {
      const side = this.#receivers.get(key)
      if (side?.round === round) this.#stopped(side, sizeIn(header, word.moved), sizeIn(header, word.size))
      return
    }
    const sender = this.#senders.get(key)
    if (kind === bulkRecord.ready) {
      if (!this.#ready.has(key)) this.#countReady(src, 1)
      this.#ready.set(key, { round, sizeBytes: sizeIn(header, word.size) })
      if (sender?.round === 0) this.#pair(sender)
    } else if (this.#ready.get(key)?.round === round) {
      this.#deleteReady(key)
      // No bytes were moved, as the header already states.
      if (header[word.wantsReply] === 1) this.#mover.post(src, bulkRecord.stopped, header)
    } else if (sender?.round === round && sender.error === undefined) {
      const halted = this.#mover.halt(sender)
      if (header[word.wantsReply] === 1) this.#post(sender, bulkRecord.stopped)
      if (halted) this.#restart(sender)
    }
  }

  /** Ends a halted side, or lets it wait for another partner; its buffer is no longer accessed. */
  released(side: BulkSide): void {
    if (side.error !== undefined) this.settle(side)
    else this.#restart(side)
  }

  /** Ends a side whose buffer is released: all bytes have been moved, or it was cancelled. */
  settle(side: BulkSide): void {
    this.#sides(side.role).delete(keyOf(side.peer, side.transferId))
    this.#mover.settled()
    if (side.error === undefined) side.resolve()
    else side.reject(side.error)
  }

  /** Ends the sides that `peer` takes part in, or all. No more records come from there. */
  fail(error: RankweaveError, peer?: number): void {
    for (const sides of [this.#senders, this.#receivers]) {
      for (const side of [...sides.values()]) {
        if (peer !== undefined && side.peer !== peer) continue
        side.error ??= error
        if (side.round === 0 || this.#mover.halt(side)) this.settle(side)
      }
    }
    for (const key of [...this.#ready.keys()]) {
      if (peer === undefined || peerOf(key) === peer) this.#deleteReady(key)
    }
  }

  #deleteReady(key: number): void {
    if (this.#ready.delete(key)) this.#countReady(peerOf(key), -1)
  }

  #countReady(peer: number, change: 1 | -1): void {
    const count = (this.#readyOf.get(peer) ?? 0) + change
    if (count > mostReady) {
      const expected = `at most ${mostReady} receivers of process ${peer} before their senders`
      throw new RankweaveError('ERR_PROTOCOL', `expected ${expected}`)
    }
    if (count === 0) this.#readyOf.delete(peer)
    else this.#readyOf.set(peer, count)
  }

  #announce(side: BulkSide): void {
    side.round = 0
    if (this.#isDetached(side)) return
    this.#lastRound = this.#lastRound === 0x7fffffff ? 1 : this.#lastRound + 1
    this.#enter(side, this.#lastRound)
    this.#mover.expect(side)
    this.#post(side, bulkRecord.ready)
  }

  /** Begins a sender whose receiver is ready. */
  #pair(side: BulkSide): void {
    const key = keyOf(side.peer, side.transferId)
    const ready = this.#ready.get(key)
    if (ready === undefined || this.#isDetached(side)) return
    this.#deleteReady(key)
    this.#enter(side, ready.round)
    if (ready.sizeBytes === side.sizeBytes) {
      this.#mover.begin(side)
      return
    }
    side.error = this.#unequal(side, ready.sizeBytes, side.sizeBytes)
    this.#post(side, bulkRecord.stopped)
    this.settle(side)
  }

  /** Lets a side wait for a new partner. */
  #restart(side: BulkSide): void {
    if (side.role === 'receiver') {
      this.#announce(side)
      return
    }
    side.round = 0
    this.#pair(side)
  }

  /** Ends a side that no longer has a buffer. */
  #isDetached(side: BulkSide): boolean {
    if (side.buffer.byteLength === side.sizeBytes) return false
    this.end(side, detachedInTransfer(side))
    return true
  }

  #enter(side: BulkSide, round: number): void {
    side.round = round
    side.header[word.round] = round
    side.movedBytes = 0
  }

  #stopped(side: BulkSide, movedBytes: number, sentBytes: number): void {
    if (sentBytes !== side.sizeBytes) side.error ??= this.#unequal(side, side.sizeBytes, sentBytes)
    if (this.#mover.stopped(side, movedBytes)) this.released(side)
  }

  #post(side: BulkSide, kind: number, wantsReply = 0): void {
    const { header } = side
    header[word.wantsReply] = wantsReply
    writeSize(header, word.moved, side.role === 'sender' ? side.movedBytes : 0)
    this.#mover.post(side.peer, kind, header)
  }

  #sides(role: BulkRole): Map<number, BulkSide> {
    return role === 'sender' ? this.#senders : this.#receivers
  }

  #unequal({ peer, transferId }: BulkSide, expected: number, sent: number): RankweaveError {
    return this.#error(
      peer,
      transferId,
      `: the receiver expected ${expected} bytes, the sender sends ${sent}`,
    )
  }

  #error(peer: number, transferId: number, what: string): RankweaveError {
    const between = `transfer ${transferId} between process ${this.#mover.process} and ${peer}`
    return new RankweaveError('ERR_FABRIC', `${between}${what.startsWith(':') ? '' : ' '}${what}`)
  }
}

/** Returns the error of a side whose buffer was detached while it was in flight: `details.detached` identifies it. */
export function detachedInTransfer(side: Pick<BulkSide, 'role' | 'peer' | 'transferId'>): RankweaveError {
  const { role, peer, transferId } = side
  const what = `the buffer of the ${role} was detached during transfer ${transferId}`
  return new RankweaveError('ERR_FABRIC', `${what} with process ${peer}`, { details: { detached: true } })
}

/**
 * The most such receivers per process. A receiver announces itself just before the frame by which its sender joins, so
 * few suffice.
 */
const mostReady = 65_536

const keyOf = (peer: number, transferId: number): number => peer * 2 ** 32 + (transferId >>> 0)
const peerOf = (key: number): number => Math.floor(key / 2 ** 32)
const sizeIn = (header: Int32Array, at: number): number => header[at] + header[at + 1] * 2 ** 31

function writeSize(header: Int32Array, at: number, size: number): void {
  header[at] = size % 2 ** 31
  header[at + 1] = Math.floor(size / 2 ** 31)
}

/** The services that bulk transfers need from their process. */
interface PieceHost {
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
