import type { Clock } from '../../src/base/clock.js'

/** A clock that advances when a test calls `pass`. */
export class ManualClock implements Clock {
  readonly #pending = new Set<{ readonly delayMs: number; readonly run: () => void }>()

  later(delayMs: number, run: () => void): () => void {
    const entry = { delayMs, run }
    this.#pending.add(entry)
    return () => this.#pending.delete(entry)
  }

  /** Delays that are waited for. */
  get delays(): readonly number[] {
    return [...this.#pending].map(({ delayMs }) => delayMs)
  }

  /** Lets everything come due that is pending now. */
  pass(): void {
    const due = [...this.#pending]
    this.#pending.clear()
    for (const { run } of due) run()
  }
}
