import type { RankweaveError } from '../errors.js'
import type { CommContext } from '../messages/process/comm-context.js'
import { collectiveWord, frameKind, headerWord } from '../messages/process/frames.js'
import { encodeLocation, type StagedCopy } from '../messages/process/staging.js'
import { writeTotal } from './collective-frame.js'
import { OfferedPiece, type Offerer } from './offered-message.js'

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
