import type { RankweaveError } from '../../errors.js'

/**
 * The envelopes sent to one process so far. The count is a double: one of 32 bits would wrap within an hour of small
 * messages.
 */
export interface SentEnvelopes {
  count: number
}

/**
 * The envelopes of one communicator that left this process and that arrived at it, so that a collective free knows when
 * nothing is in flight. A request to take a message back counts as one.
 */
export class EnvelopeCount {
  /** The counts by world process; only of those that were sent any. */
  readonly #sent = new Map<number, SentEnvelopes>()
  /** The count of envelopes from all processes so far. */
  arrived = 0
  #waiting: {
    readonly count: number
    readonly resolve: () => void
    readonly reject: (error: RankweaveError) => void
  }[] = []

  /** Returns the count of a process, to be increased for every envelope that leaves for it. */
  to(process: number): SentEnvelopes {
    let sent = this.#sent.get(process)
    if (sent === undefined) {
      sent = { count: 0 }
      this.#sent.set(process, sent)
    }
    return sent
  }

  leave(process: number): void {
    this.to(process).count++
  }

  sentTo(process: number): number {
    return this.#sent.get(process)?.count ?? 0
  }

  get awaited(): boolean {
    return this.#waiting.length > 0
  }

  arrive(): void {
    this.arrived++
    if (this.#waiting.length === 0) return
    const done = this.#waiting.filter(({ count }) => count <= this.arrived)
    this.#waiting = this.#waiting.filter(({ count }) => count > this.arrived)
    for (const { resolve } of done) resolve()
  }

  /** Resolves when `count` have arrived in total. */
  whenArrived(count: number): Promise<void> {
    if (this.arrived >= count) return Promise.resolve()
    return new Promise((resolve, reject) => {
      this.#waiting.push({ count, resolve, reject })
    })
  }

  fail(error: RankweaveError): void {
    for (const { reject } of this.#waiting.splice(0)) reject(error)
  }
}
