import type { Exchange } from '../../calls/exchange/exchange.js'
import { ForwardedExchange } from '../../calls/exchange/exchange.js'

export interface PhaseCost {
  readonly seconds: number
  readonly messages: number
  readonly bytes: number
}

/** The phases in the order in which they first began. */
export type PhaseCosts = Readonly<Record<string, PhaseCost>>

interface Phase {
  readonly name: string
  seconds: number
  messages: number
  bytes: number
}

type Held = Pick<ArrayBufferView, 'byteLength'>

/** The clock, message counter and memory account of one split in one process. */
export class SplitMeter {
  /** The largest sum of array bytes that the split held at one time. */
  peakBytes = 0
  readonly #phases: Phase[] = []
  #current: Phase | undefined
  #since = 0
  #held = 0

  /** Begins the phase `name`, to which everything until the next call belongs. */
  enter(name: string): void {
    this.leave()
    let phase = this.#phases.find((each) => each.name === name)
    if (phase === undefined) {
      phase = { name, seconds: 0, messages: 0, bytes: 0 }
      this.#phases.push(phase)
    }
    this.#current = phase
  }

  leave(): void {
    const now = performance.now()
    if (this.#current !== undefined) this.#current.seconds += (now - this.#since) / 1000
    this.#current = undefined
    this.#since = now
  }

  get costs(): PhaseCosts {
    return Object.fromEntries(this.#phases.map(({ name, ...cost }) => [name, cost]))
  }

  /** Records that an array is held from now on, and that others no longer are. */
  hold(held: Held | null, ...dropped: readonly Held[]): void {
    this.#held += held?.byteLength ?? 0
    this.peakBytes = Math.max(this.peakBytes, this.#held)
    for (const { byteLength } of dropped) this.#held -= byteLength
  }

  /** Counts a message to another process. */
  sent(sizeBytes: number): void {
    if (this.#current === undefined) return
    this.#current.messages++
    this.#current.bytes += sizeBytes
  }

  /** Returns the exchange, with its messages counted in the current phase. */
  counting(exchange: Exchange): Exchange {
    return new CountingExchange(exchange, this)
  }
}

class CountingExchange extends ForwardedExchange {
  readonly #meter: SplitMeter

  constructor(exchange: Exchange, meter: SplitMeter) {
    super(exchange)
    this.#meter = meter
  }

  override send(peer: number, step: number, payload: Uint8Array, sent?: () => void): void {
    if (peer !== this.me) this.#meter.sent(payload.byteLength)
    super.send(peer, step, payload, sent)
  }
}
