import type { RankweaveError } from '../../errors.js'
import type { Send } from '../mailboxes/send.js'

/**
 * The sends to ranks whose addresses are being looked up. A send to a rank waits behind those that were started before,
 * so that none overtakes another during a look-up.
 */
export class AddressQueue {
  readonly #waiting = new Map<number, Send[]>()
  #whenNone: { readonly resolve: () => void; readonly reject: (error: RankweaveError) => void } | undefined

  get none(): boolean {
    return this.#waiting.size === 0
  }

  /** Returns true when the send has been queued behind others to its rank. */
  holds(send: Send): boolean {
    if (this.#waiting.size === 0) return false
    const queue = this.#waiting.get(send.dest)
    queue?.push(send)
    return queue !== undefined
  }

  /** @param dispatch called for this send, and those behind it, in order, with the world rank once it is known */
  wait(send: Send, found: Promise<number>, dispatch: (send: Send, worldRank: number) => void): void {
    const queue = [send]
    this.#waiting.set(send.dest, queue)
    const release = (each: (send: Send) => void) => {
      this.#waiting.delete(send.dest)
      for (const waiting of queue) if (!waiting.settled) each(waiting)
      if (this.none) this.#whenNone?.resolve()
    }
    found.then(
      (worldRank) => release((waiting) => dispatch(waiting, worldRank)),
      (cause: RankweaveError) => release((waiting) => waiting.reject(cause)),
    )
  }

  get sends(): Send[] {
    return [...this.#waiting.values()].flat()
  }

  /**
   * Resolves when all sends so far have been dispatched or have failed. It is awaited before the communicator is freed.
   */
  whenNone(): Promise<void> {
    if (this.none) return Promise.resolve()
    return new Promise((resolve, reject) => {
      this.#whenNone = { resolve, reject }
    })
  }

  fail(error: RankweaveError): void {
    this.#waiting.clear()
    this.#whenNone?.reject(error)
  }
}
