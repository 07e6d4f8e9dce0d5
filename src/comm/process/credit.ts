import type { FramePort } from './frame-port.js'
import { creditWord, creditWords, frameKind, headerWord } from './frames.js'

/** A transfer that may send only as far as it has been granted. */
export interface Grantee {
  readonly process: number
  readonly sizeBytes: number
  grantedBytes: number
  receivedBytes: number
  /** Tells the sender how far it may go: `grantedBytes`. */
  announce(): void
}

/**
 * Flow control of payload between this process and each other, over all communicators (decision 10). Envelopes and
 * control frames are never held back.
 *
 * - **Eager payload** under way to a process, sent and not yet consumed by a receive, stays within `creditBytes`;
 *   past it sends become rendezvous. The receiver returns credit in batches. This process itself counts like any
 *   other.
 * - **Rendezvous payload** is granted by the receiver: what a process may send us and has not yet sent stays within
 *   `creditBytes` too. Transfers are served in order, so each one ends.
 */
export class Credit {
  readonly #runtime: FramePort
  readonly #limitBytes: number
  /** Eager bytes sent to each process and not yet returned. */
  readonly #underWay: Float64Array
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
    this.#underWay = new Float64Array(processes)
    this.#owed = new Float64Array(processes)
    this.#granted = new Float64Array(processes)
    runtime.onService(frameKind.credit, (src, header) => {
      this.#underWay[src]! -= header[creditWord.bytes]! >>> 0
    })
  }

  /** A number this process gives to no other transfer that could still be under way. */
  drawTransferId(): number {
    this.#lastTransferId = this.#lastTransferId === 0x7fffffff ? 1 : this.#lastTransferId + 1
    return this.#lastTransferId
  }

  /** Takes credit for an eager message; false when there is not enough. Empty messages need none. */
  take(process: number, sizeBytes: number): boolean {
    if (sizeBytes === 0) return true
    if (this.#underWay[process]! + sizeBytes > this.#limitBytes) return false
    this.#underWay[process]! += sizeBytes
    return true
  }

  /** Eager bytes of `process` that no longer occupy memory here. */
  consumed(process: number, sizeBytes: number): void {
    if (sizeBytes === 0) return
    if (process === this.#runtime.process) {
      this.#underWay[process]! -= sizeBytes
      return
    }
    const owed = this.#owed[process]! + sizeBytes
    this.#owed[process] = owed
    // A quarter at a time: the sender keeps at least three quarters to work with, and frames stay rare.
    if (owed * 4 < this.#limitBytes) return
    this.#owed[process] = 0
    this.#header[headerWord.kind] = frameKind.credit
    this.#header[creditWord.bytes] = owed
    this.#runtime.send(process, this.#header)
  }

  /** Queues a transfer that has been matched; it will be announced at least once. */
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

  /** Nobody waits for the rest of the transfer. */
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
