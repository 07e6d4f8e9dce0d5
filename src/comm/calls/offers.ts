import type { RankweaveError } from '../../errors.js'
import { frameKind, headerWord } from '../process/frames.js'
import type { CommContext } from '../table/comm-context.js'
import { collectiveWord, writeTotal } from './collective-frame.js'
import { OfferedPiece, type Offerer } from './offered-message.js'

/** What a process has offered in one collective and its receivers have not taken: its memory is borrowed until then. */
export class Offers implements Offerer {
  readonly #state: CommContext
  readonly #pieceBytes: number
  readonly #onFailed: (error: RankweaveError) => void
  readonly #pieces = new Set<OfferedPiece>()
  #whenEmpty: (() => void)[] = []
  #isWithdrawn = false

  constructor(state: CommContext, pieceBytes: number, onFailed: (error: RankweaveError) => void) {
    this.#state = state
    this.#pieceBytes = pieceBytes
    this.#onFailed = onFailed
  }

  get isEmpty(): boolean {
    return this.#pieces.size === 0
  }

  /** Process indices that have something to take. */
  get receivers(): number[] {
    return Array.from(this.#pieces, (piece) => this.#state.indexOfProcess(piece.process))
  }

  /** @param header of an eager message; its words for kind and size are written here */
  offer(process: number, header: Int32Array, bytes: Uint8Array): void {
    const { runtime, transfers } = this.#state
    const total = bytes.byteLength
    header[headerWord.kind] = frameKind.collectiveOffer
    writeTotal(header, total, 0)
    let offset = 0
    do {
      const end = Math.min(total, offset + this.#pieceBytes)
      const piece = new OfferedPiece(this, process, bytes.subarray(offset, end))
      piece.transferId = transfers.offer(piece)
      this.#pieces.add(piece)
      header[collectiveWord.offset] = piece.transferId
      runtime.send(process, header)
      offset = end
    } while (offset < total)
    header[headerWord.kind] = frameKind.collective
  }

  whenEmpty(done: () => void): void {
    if (this.isEmpty) done()
    else this.#whenEmpty.push(done)
  }

  /** Ends all offers. Calls back, instead of those that wait for the receivers, when the fabric reads none any more. */
  withdraw(error: RankweaveError, released: () => void): void {
    this.#isWithdrawn = true
    this.#whenEmpty = [released]
    for (const { transferId } of [...this.#pieces]) this.#state.transfers.settle(transferId, error)
  }

  pieceSent(piece: OfferedPiece): void {
    this.#pieces.delete(piece)
    if (this.#pieces.size > 0) return
    const callbacks = this.#whenEmpty
    this.#whenEmpty = []
    for (const done of callbacks) done()
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
