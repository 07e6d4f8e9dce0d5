import type { Clock } from '../../base/clock.js'

/** Counts messages of one sender per second; a second begins with a message. */
export class MessageRate {
  readonly #clock: Clock
  #count = 0
  #cancel: (() => void) | undefined

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Counts a message, and returns whether more than `most` came in this second. */
  exceeds(most: number): boolean {
    this.#cancel ??= this.#clock.later(1_000, () => {
      this.#count = 0
      this.#cancel = undefined
    })
    return ++this.#count > most
  }

  /** Uncounts the last message, which others have caused. */
  uncount(): void {
    if (this.#count > 0) this.#count--
  }

  stop(): void {
    this.#cancel?.()
    this.#cancel = undefined
  }
}
