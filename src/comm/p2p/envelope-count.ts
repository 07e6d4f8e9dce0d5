import type { RankweaveError } from '../../errors.js'
import type { CommContext } from '../table/comm-context.js'

/**
 * Envelopes of one communicator that left this process and that arrived at it, so that a collective free knows when
 * nothing is in flight. A request to take a message back counts as one.
 */
export class EnvelopeCount {
  /** Sent so far to each process index. */
  readonly sent: Int32Array
  readonly #state: CommContext
  #arrived = 0
  #waiting: {
    readonly count: number
    readonly resolve: () => void
    readonly reject: (error: RankweaveError) => void
  }[] = []

  constructor(state: CommContext) {
    this.sent = new Int32Array(state.processes.count)
    this.#state = state
  }

  leave(process: number): void {
    this.sent[this.#state.indexOfProcess(process)]!++
  }

  /** Whether a free waits for envelopes to arrive. */
  get awaited(): boolean {
    return this.#waiting.length > 0
  }

  arrive(): void {
    this.#arrived++
    if (this.#waiting.length === 0) return
    const done = this.#waiting.filter(({ count }) => count <= this.#arrived)
    this.#waiting = this.#waiting.filter(({ count }) => count > this.#arrived)
    for (const { resolve } of done) resolve()
  }

  /** Resolves when `count` have arrived in total. */
  whenArrived(count: number): Promise<void> {
    if (this.#arrived >= count) return Promise.resolve()
    return new Promise((resolve, reject) => {
      this.#waiting.push({ count, resolve, reject })
    })
  }

  fail(error: RankweaveError): void {
    for (const { reject } of this.#waiting.splice(0)) reject(error)
  }
}
