import { returnCharge } from '../calls/collective-frame.js'
import type { RetiredFrames } from '../messages/process/frame-router.js'
import { envelopeWord, frameKind, headerWord } from '../messages/process/frames.js'
import type { ProcessPort } from '../messages/process/process-port.js'
import { Transfers } from '../messages/process/transfers.js'

/**
 * What a process retains of a communicator that was revoked and that all of its ranks here have freed, until
 * the world ends: no process learns when the last frame of a revoked communicator has arrived. It answers
 * late frames as the failed communicator would: messages are dropped and their charges returned, and
 * transfers in progress end on both sides.
 *
 * Memory: this object, and the transfers that were in progress.
 */
export class RetiredContext implements RetiredFrames {
  readonly #runtime: ProcessPort
  readonly #transfers: Transfers | undefined

  constructor(runtime: ProcessPort, transfers: Transfers | undefined) {
    this.#runtime = runtime
    this.#transfers = transfers
  }

  frame(src: number, header: Int32Array, payload: Uint8Array): void {
    if (header[headerWord.kind] === frameKind.eager) {
      this.#runtime.credit.consumed(src, header[envelopeWord.sizeBytes] >>> 0)
    } else if (Transfers.concerns(header)) this.#transfers?.frame(src, header, payload)
    else returnCharge(this.#runtime, src, header)
  }
}
