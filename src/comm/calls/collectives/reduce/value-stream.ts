import { joinBlocks, splitBlocks } from '../../../../base/packing.js'
import type { Exchange } from '../../exchange.js'
import { copyOf } from '../../exchange.js'

/** Streams use the steps of an exchange below this one. */
export const streamSteps = 8

/**
 * Values between processes, in an order that both ends know. Values put for one peer are batched, and sent at the
 * latest before this process waits, so that many small values of a tree need few frames.
 *
 * A value must not change between `put` and the send.
 */
export class ValueStreams {
  readonly #exchange: Exchange
  readonly #sizeBytes: number | null
  readonly #outgoing = new Map<number, Uint8Array[]>()
  readonly #incoming = new Map<number, { values: Uint8Array[]; next: number }>()

  /** @param sizeBytes of every value, or null if they vary */
  constructor(exchange: Exchange, sizeBytes: number | null) {
    this.#exchange = exchange
    // Empty values are sent with their number, which their length does not give.
    this.#sizeBytes = sizeBytes === 0 ? null : sizeBytes
  }

  /** @param step below {@link streamSteps} */
  put(peer: number, step: number, value: Uint8Array): void {
    const key = peer * streamSteps + step
    const queue = this.#outgoing.get(key)
    if (queue === undefined) this.#outgoing.set(key, [value])
    else queue.push(value)
  }

  flush(): void {
    for (const [key, values] of this.#outgoing) {
      const single = values.length === 1 && this.#sizeBytes !== null
      const bytes = single ? values[0]! : joinBlocks(values, this.#sizeBytes)
      this.#exchange.send(Math.floor(key / streamSteps), key % streamSteps, bytes)
    }
    this.#outgoing.clear()
  }

  /** The next value of (peer, step), as bytes of a fresh buffer, if it has arrived. */
  next(peer: number, step: number): Uint8Array | undefined {
    const queue = this.#incoming.get(peer * streamSteps + step)
    return queue === undefined || queue.next === queue.values.length ? undefined : queue.values[queue.next++]
  }

  /** Receives more of (peer, step) when `next` has none: true if it is here now, else `later` is called on arrival. */
  fill(peer: number, step: number, later: () => void): boolean {
    this.flush()
    let isHere = false
    let isLate = false
    this.#exchange.take(peer, step, (bytes, owned) => {
      this.#keep(peer, step, owned ? bytes : copyOf(bytes))
      if (isLate) later()
      else isHere = true
    })
    isLate = true
    return isHere
  }

  /** The next value of (peer, step). */
  async take(peer: number, step: number): Promise<Uint8Array> {
    const here = this.next(peer, step)
    if (here !== undefined) return here
    this.flush()
    this.#keep(peer, step, await this.#exchange.receive(peer, step))
    return this.next(peer, step)!
  }

  #keep(peer: number, step: number, bytes: Uint8Array): void {
    const sizeBytes = this.#sizeBytes
    const count = sizeBytes === null ? 0 : bytes.byteLength / sizeBytes
    const values = count === 1 ? [bytes] : splitBlocks(bytes, count, sizeBytes)
    this.#incoming.set(peer * streamSteps + step, { values, next: 0 })
  }
}
