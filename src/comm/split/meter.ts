import type { Exchange } from '../collective-engine.js'

/** What one phase of a split cost this process. */
export interface PhaseCost {
  readonly seconds: number
  readonly messages: number
  readonly bytes: number
}

/** Phases in the order in which they first began. */
export type PhaseCosts = Readonly<Record<string, PhaseCost>>

type Held = Pick<ArrayBufferView, 'byteLength'>

/** Clock, message counter and memory account of one split in one process. */
export class SplitMeter {
  /** Largest sum of array bytes that the split held at one time. */
  peakBytes = 0
  readonly #costs = new Map<string, { seconds: number; messages: number; bytes: number }>()
  #current: { seconds: number; messages: number; bytes: number } | undefined
  #since = 0
  #held = 0

  /** Everything from here to the next call belongs to `phase`. */
  enter(phase: string): void {
    this.leave()
    let cost = this.#costs.get(phase)
    if (cost === undefined) {
      cost = { seconds: 0, messages: 0, bytes: 0 }
      this.#costs.set(phase, cost)
    }
    this.#current = cost
  }

  leave(): void {
    const now = performance.now()
    if (this.#current !== undefined) this.#current.seconds += (now - this.#since) / 1000
    this.#current = undefined
    this.#since = now
  }

  get costs(): PhaseCosts {
    return Object.fromEntries(this.#costs)
  }

  /** Says that an array is held from now on, and which no longer are. */
  hold(held: Held | null, ...dropped: readonly Held[]): void {
    this.#held += held?.byteLength ?? 0
    this.peakBytes = Math.max(this.peakBytes, this.#held)
    for (const { byteLength } of dropped) this.#held -= byteLength
  }

  /** The exchange, with what it sends counted in the current phase. */
  counting(exchange: Exchange): Exchange {
    return {
      me: exchange.me,
      count: exchange.count,
      send: (peer, step, payload) => {
        if (peer !== exchange.me && this.#current !== undefined) {
          this.#current.messages++
          this.#current.bytes += payload.byteLength
        }
        exchange.send(peer, step, payload)
      },
      receive: (peer, step) => exchange.receive(peer, step),
      take: (peer, step, take) => exchange.take(peer, step, take),
      finish: (results) => exchange.finish(results),
    }
  }
}
