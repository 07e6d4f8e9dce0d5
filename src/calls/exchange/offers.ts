import { copyBytes } from '../../base/bytes.js'
import { RankweaveError, wrongValue } from '../../errors.js'
import { detachedError } from '../../messages/datatype/elements.js'
import type { CommContext } from '../../messages/process/comm-context.js'
import {
  collectiveWord,
  frameKind,
  headerWord,
  offsetOf,
  totalOf,
  writeTotal,
} from '../../messages/process/frames.js'
import {
  decodeLocation,
  encodeLocation,
  type MemoryLocation,
  type StagedCopy,
} from '../../messages/process/staging.js'
import type { Incoming, Outgoing, Transfers } from '../../messages/process/transfers.js'
import { type AwaitedReceive, hand, type Room } from './exchange.js'

/**
 * The messages that a process has offered in one collective and its receivers have not taken. Their memory is borrowed
 * until then.
 */
export class Offers implements Offerer {
  readonly #state: CommContext
  readonly #pieceBytes: number
  readonly #onFailed: (error: RankweaveError) => void
  readonly #pieces = new Set<OfferedPiece>()
  readonly #whenTaken = new Map<OfferedPiece, () => void>()
  #whenEmpty: (() => void)[] = []
  /** The copies that are staged in this collective and not yet taken by all receivers. */
  readonly #staged: { readonly bytes: Uint8Array; readonly step: number; readonly copy: StagedCopy }[] = []
  #isWithdrawn = false

  constructor(state: CommContext, pieceBytes: number, onFailed: (error: RankweaveError) => void) {
    this.#state = state
    this.#pieceBytes = pieceBytes
    this.#onFailed = onFailed
  }

  get isEmpty(): boolean {
    return this.#pieces.size === 0
  }

  /** The indices of processes that have offers to take. */
  get receivers(): number[] {
    return Array.from(this.#pieces, (piece) => this.#state.indexOfProcess(piece.process))
  }

  /**
   * @param header of an eager message; its words for kind and size are written here
   * @param taken called when the receiver has taken the message, unless it is withdrawn
   */
  offer(process: number, header: Int32Array, bytes: Uint8Array, taken?: () => void): void {
    const { runtime } = this.#state
    const total = bytes.byteLength
    header[headerWord.kind] = frameKind.collectiveOffer
    writeTotal(header, total, 0)
    const copy = this.#copyOf(process, bytes, header[collectiveWord.step])
    if (copy !== undefined) {
      this.#add(new OfferedPiece(this, process, copy.bytes, copy), header, taken)
      runtime.send(process, header, encodeLocation(copy.addReader(process)))
      header[headerWord.kind] = frameKind.collective
      return
    }
    let missing = Math.max(1, Math.ceil(total / this.#pieceBytes))
    const pieceTaken = taken && (() => --missing === 0 && taken())
    let offset = 0
    do {
      const end = Math.min(total, offset + this.#pieceBytes)
      this.#add(new OfferedPiece(this, process, bytes.subarray(offset, end)), header, pieceTaken)
      runtime.send(process, header)
      offset = end
    } while (offset < total)
    header[headerWord.kind] = frameKind.collective
  }

  #add(piece: OfferedPiece, header: Int32Array, taken: (() => void) | undefined): void {
    piece.transferId = this.#state.transfers.offer(piece)
    this.#pieces.add(piece)
    if (taken !== undefined) this.#whenTaken.set(piece, taken)
    header[collectiveWord.offset] = piece.transferId
  }

  /** Returns a staged copy, the same for all who get these bytes in this step; undefined if they cannot be staged. */
  #copyOf(process: number, bytes: Uint8Array, step: number): StagedCopy | undefined {
    const { staging } = this.#state.runtime
    if (staging === undefined || bytes.byteLength === 0 || !staging.isSharedWith(process)) return undefined
    const staged = this.#staged
    for (let i = staged.length - 1; i >= 0; i--) {
      const { bytes: other, copy } = staged[i]
      if (!copy.isRead) staged.splice(i, 1)
      else if (staged[i].step === step && isSame(bytes, other)) return copy
    }
    const copy = staging.copy(bytes)
    if (copy === undefined) return undefined
    this.#state.runtime.processCounters.bytesCopied += bytes.byteLength
    staged.push({ bytes, step, copy })
    return copy
  }

  whenEmpty(done: () => void): void {
    if (this.isEmpty) done()
    else this.#whenEmpty.push(done)
  }

  /**
   * Ends all offers. Calls `released` when the fabric no longer reads any of them; callbacks that wait for receivers
   * are dropped.
   */
  withdraw(error: RankweaveError, released: () => void): void {
    this.#isWithdrawn = true
    this.#whenTaken.clear()
    this.#whenEmpty = [released]
    for (const { transferId } of [...this.#pieces]) this.#state.transfers.settle(transferId, error)
  }

  pieceSent(piece: OfferedPiece): void {
    this.#pieces.delete(piece)
    this.#taken(piece)
    if (this.#pieces.size > 0) return
    this.#staged.length = 0
    const callbacks = this.#whenEmpty
    this.#whenEmpty = []
    for (const done of callbacks) done()
  }

  /** Calls the callback of a piece, which may offer more. */
  #taken(piece: OfferedPiece): void {
    if (this.#whenTaken.size === 0) return
    const taken = this.#whenTaken.get(piece)
    this.#whenTaken.delete(piece)
    taken?.()
  }

  pieceFailed(piece: OfferedPiece, error: RankweaveError): void {
    if (this.#isWithdrawn) {
      this.pieceSent(piece)
      return
    }
    this.#pieces.delete(piece)
    this.#onFailed(error)
  }
}

function isSame(a: Uint8Array, b: Uint8Array): boolean {
  return a.buffer === b.buffer && a.byteOffset === b.byteOffset && a.byteLength === b.byteLength
}

/** The size of the pieces in which a message of a collective is offered. One transfer carries less than 4 GiB. */
export const defaultPieceBytes = 2 ** 30

interface Offerer {
  pieceSent(piece: OfferedPiece): void
  pieceFailed(piece: OfferedPiece, error: RankweaveError): void
}

/** A piece of a message that stays with its sender until the receiver's algorithm takes the message. */
class OfferedPiece implements Outgoing {
  readonly process: number
  transferId = 0
  readonly copy: StagedCopy | undefined
  readonly #bytes: Uint8Array
  readonly #sizeBytes: number
  readonly #owner: Offerer

  constructor(owner: Offerer, process: number, bytes: Uint8Array, copy?: StagedCopy) {
    this.#owner = owner
    this.process = process
    this.copy = copy
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
  /** The memory where this process can read the message, if it can. */
  location: MemoryLocation | undefined
  readonly #pieceBytes: number
  readonly #transferIds: number[] = []

  constructor(process: number, sizeBytes: number, pieceBytes: number) {
    this.process = process
    this.sizeBytes = sizeBytes
    this.#pieceBytes = pieceBytes
  }

  get pieces(): number {
    return this.#transferIds.length
  }

  /**
   * Adds the next piece; returns true when no other is missing.
   *
   * @param location payload of the offer: empty, or where it is
   */
  add(transferId: number, location: Uint8Array): boolean {
    this.#transferIds.push(transferId)
    if (location.byteLength > 0) {
      this.location = decodeLocation(location)
      return true
    }
    return this.#transferIds.length * this.#pieceBytes >= this.sizeBytes
  }

  /** Tells the sender that it need not send the message, or that a copy that was read in place is no longer read. */
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

/**
 * The messages of one collective that are in memory which this process can read. They are copied from there, or lent to
 * the algorithm.
 */
export class MessagesInPlace {
  readonly #state: CommContext
  readonly #lent = new Set<OfferedMessage>()

  constructor(state: CommContext) {
    this.#state = state
  }

  /**
   * Gives a receive its message. The sender learns that the message is no longer read: at once, or when the algorithm
   * releases it.
   */
  read(message: OfferedMessage, { take, room, lend }: AwaitedReceive): void {
    const { transfers, runtime } = this.#state
    const { process, location, sizeBytes } = message
    const bytes = runtime.fabric.staging!.reach(process, location!, sizeBytes)
    if (lend !== undefined) {
      this.#lent.add(message)
      lend(bytes, () => {
        if (this.#lent.delete(message)) message.decline(transfers)
      })
      return
    }
    if (room !== undefined) runtime.processCounters.bytesCopied += sizeBytes
    try {
      hand(take, room, bytes, false)
    } finally {
      message.decline(transfers)
    }
  }

  /** Releases all lent messages, because the algorithm reads no more of them. */
  releaseAll(): void {
    for (const message of this.#lent) message.decline(this.#state.transfers)
    this.#lent.clear()
  }
}

/** A message of several frames that is not complete. */
export class PartialMessage {
  readonly totalBytes: number
  #place: Uint8Array | undefined
  #own: Uint8Array | undefined
  #filledBytes = 0

  constructor(totalBytes: number) {
    this.totalBytes = totalBytes
  }

  /** Writes the frames into the memory of a receive. Called before the first frame. */
  landIn(place: Uint8Array | null | undefined): void {
    this.#place = place ?? undefined
  }

  get isInPlace(): boolean {
    return this.#place !== undefined
  }

  get bytes(): Uint8Array {
    this.#own ??= new Uint8Array(this.totalBytes)
    return this.#own
  }

  /**
   * Adds the next frame; returns true when no other is missing.
   *
   * @throws ERR_FABRIC if the message goes to a buffer that was detached meanwhile
   * @throws ERR_PROTOCOL for a frame that does not continue the message
   */
  add(header: Int32Array, payload: Uint8Array): boolean {
    const at = offsetOf(header)
    if (at !== this.#filledBytes || totalOf(header) !== this.totalBytes) {
      const expected = `byte ${this.#filledBytes} of ${this.totalBytes}, got ${at} of ${totalOf(header)}`
      throw new RankweaveError(
        'ERR_PROTOCOL',
        `a message of a collective: expected its frame from ${expected}`,
      )
    }
    const into = this.#place ?? this.bytes
    if (into.byteLength !== this.totalBytes) throw detachedError()
    copyBytes(into, at, payload)
    this.#filledBytes += payload.byteLength
    return this.#filledBytes === this.totalBytes
  }
}

/**
 * The messages of one collective that are not complete, by key: frames of those sent at once, pieces of those offered.
 */
export class PartialMessages {
  readonly #messages = new Map<number, PartialMessage | OfferedMessage>()

  get isEmpty(): boolean {
    return this.#messages.size === 0
  }

  /**
   * Adds a frame of a message, which is returned once it is complete.
   *
   * @throws ERR_PROTOCOL for a message that does not begin at its beginning: its sender has taken no credit
   * @param room of the receive that waits for it, if one does: it gets the frames at once in its memory
   */
  frame(
    key: number,
    header: Int32Array,
    payload: Uint8Array,
    room: Room | undefined,
  ): PartialMessage | undefined {
    let message = this.#messages.get(key)
    if (message instanceof OfferedMessage) throw mixed()
    if (message === undefined) {
      const total = totalOf(header)
      const at = offsetOf(header)
      if (at !== 0) {
        const text = `a message of a collective: expected its first frame, got that from byte ${at} on`
        throw new RankweaveError('ERR_PROTOCOL', text)
      }
      message = new PartialMessage(total)
      this.#messages.set(key, message)
      message.landIn(room?.(total))
    }
    if (!message.add(header, payload)) return undefined
    this.#messages.delete(key)
    return message
  }

  /**
   * Adds a piece of an offered message of world process `process`, which is returned once all its pieces are offered.
   *
   * @throws ERR_PROTOCOL for a piece of another message
   */
  offer(
    key: number,
    process: number,
    header: Int32Array,
    location: Uint8Array,
    pieceBytes: number,
  ): OfferedMessage | undefined {
    const begun = this.#messages.get(key)
    if (begun instanceof PartialMessage) throw mixed()
    const total = totalOf(header)
    if (begun !== undefined && begun.sizeBytes !== total) {
      const expected = `an offer in pieces: expected one of ${begun.sizeBytes} bytes`
      throw wrongValue('ERR_PROTOCOL', expected, total)
    }
    const message = begun ?? new OfferedMessage(process, total, pieceBytes)
    if (message.add(header[collectiveWord.offset], location)) {
      this.#messages.delete(key)
      return message
    }
    this.#messages.set(key, message)
    return undefined
  }

  drop(dropped: (key: number, message: PartialMessage | OfferedMessage) => void): void {
    for (const [key, message] of this.#messages) dropped(key, message)
    this.#messages.clear()
  }
}

function mixed(): RankweaveError {
  return new RankweaveError(
    'ERR_PROTOCOL',
    'a message of a collective: expected it offered, or sent, not both',
  )
}
