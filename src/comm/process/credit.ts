import type { FramePort } from './frame-port.js'
import { creditWord, creditWords, frameKind, headerWord } from './frames.js'

/** A transfer that may send only as far as it has been granted. */
export interface Grantee {
  readonly process: number
  readonly sizeBytes: number
  grantedBytes: number
  receivedBytes: number
  /** Sends the sender its new limit, `grantedBytes`. */
  announce(): void
}

/**
 * Flow control of payload between this process and every other, over all communicators (decision 10). Envelopes and
 * control frames are never delayed.
 *
 * - **Eager payload** in flight to a process, sent and not yet consumed by a receive, stays within `creditBytes`; beyond
 *   that, sends become rendezvous. The receiver returns credit in batches. This process itself counts like any other.
 * - **Rendezvous payload** is granted by the receiver: what a process may send to this one and has not sent yet stays
 *   within `creditBytes` too. Transfers are served in order, so every one completes.
 */
export class Credit {
  readonly #runtime: FramePort
  readonly #limitBytes: number
  /** Eager bytes sent to each process and not yet returned. */
  readonly #inFlight: Float64Array
  /** Eager bytes of each process consumed here and not yet returned. */
  readonly #owed: Float64Array
  /** Rendezvous bytes granted to each process and not yet arrived. */
  readonly #granted: Float64Array
  readonly #waiting: (Grantee[] | undefined)[] = []
  readonly #header = new Int32Array(creditWords)
  #lastTransferId = 0

  constructor(runtime: FramePort) {
    const { processes } = runtime.layout
    this.#runtime = runtime
    this.#limitBytes = Math.min(runtime.options.creditBytes, 2 ** 31)
    this.#inFlight = new Float64Array(processes)
    this.#owed = new Float64Array(processes)
    this.#granted = new Float64Array(processes)
    runtime.onService(frameKind.credit, (src, header) => {
      this.#inFlight[src]! -= header[creditWord.bytes]! >>> 0
    })
  }

  /** An id that no other transfer of this process in flight has. */
  drawTransferId(): number {
    this.#lastTransferId = this.#lastTransferId === 0x7fffffff ? 1 : this.#lastTransferId + 1
    return this.#lastTransferId
  }

  /** Takes credit for an eager message; false when there is not enough. Empty messages need none. */
  take(process: number, sizeBytes: number): boolean {
    if (sizeBytes === 0) return true
    if (this.#inFlight[process]! + sizeBytes > this.#limitBytes) return false
    this.#inFlight[process]! += sizeBytes
    return true
  }

  /** Eager bytes of `process` no longer occupy memory here. */
  consumed(process: number, sizeBytes: number): void {
    if (sizeBytes === 0) return
    if (process === this.#runtime.process) {
      this.#inFlight[process]! -= sizeBytes
      return
    }
    const owed = this.#owed[process]! + sizeBytes
    this.#owed[process] = owed
    // A quarter at a time: the sender always has at least three quarters to use, and credit frames stay rare.
    if (owed * 4 < this.#limitBytes) return
    this.#owed[process] = 0
    this.#header[headerWord.kind] = frameKind.credit
    this.#header[creditWord.bytes] = owed
    this.#runtime.send(process, this.#header)
  }

  /** Queues a transfer that has been matched; it is announced at least once. */
  request(transfer: Grantee): void {
    const { process } = transfer
    this.#waiting[process] ??= []
    this.#waiting[process].push(transfer)
    this.#grant(process)
  }

  /** Bytes of a granted transfer have arrived. */
  arrived(transfer: Grantee, sizeBytes: number): void {
    transfer.receivedBytes += sizeBytes
    this.#granted[transfer.process]! -= sizeBytes
    this.#grant(transfer.process)
  }

  /** The rest of the transfer is no longer wanted. */
  abandon(transfer: Grantee): void {
    const { process } = transfer
    const waiting = this.#waiting[process]
    const at = waiting?.indexOf(transfer) ?? -1
    if (at >= 0) waiting!.splice(at, 1)
    this.#granted[process]! -= transfer.grantedBytes - transfer.receivedBytes
    this.#grant(process)
  }

  #grant(process: number): void {
    const waiting = this.#waiting[process]
    if (waiting === undefined || waiting.length === 0) return
    const windowBytes = Math.max(this.#limitBytes, this.#runtime.fabric.maxPayloadBytes)
    // Half a window at a time, so that a long transfer is not announced once per frame.
    if (this.#granted[process]! * 2 > windowBytes) return
    let served = 0
    for (const transfer of waiting) {
      const free = windowBytes - this.#granted[process]!
      if (free <= 0) break
      const more = Math.min(free, transfer.sizeBytes - transfer.grantedBytes)
      transfer.grantedBytes += more
      this.#granted[process]! += more
      transfer.announce()
      if (transfer.grantedBytes < transfer.sizeBytes) break
      served++
    }
    waiting.splice(0, served)
  }
}
