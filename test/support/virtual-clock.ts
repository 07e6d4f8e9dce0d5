import type { Clock } from '../../src/base/clock.js'

interface Timer {
  readonly at: number
  readonly order: number
  readonly run: () => void
}

/** A clock whose time passes when a test says so; what comes due runs in the order of its times. */
export class VirtualClock implements Clock {
  #now = 0
  #order = 0
  readonly #timers = new Set<Timer>()

  /** Milliseconds since the beginning. */
  get now(): number {
    return this.#now
  }

  /** Timers that have not come due. */
  get pending(): number {
    return this.#timers.size
  }

  later(delayMs: number, run: () => void): () => void {
    const timer = { at: this.#now + delayMs, order: this.#order++, run }
    this.#timers.add(timer)
    return () => this.#timers.delete(timer)
  }

  pass(durationMs: number): void {
    const end = this.#now + durationMs
    for (;;) {
      let next: Timer | undefined
      for (const timer of this.#timers) {
        if (timer.at > end) continue
        if (next === undefined || timer.at < next.at || (timer.at === next.at && timer.order < next.order)) {
          next = timer
        }
      }
      if (next === undefined) break
      this.#timers.delete(next)
      this.#now = next.at
      next.run()
    }
    this.#now = end
  }
}
