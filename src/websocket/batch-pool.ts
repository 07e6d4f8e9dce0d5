import { Batch } from './batch.js'

/** Memory of messages of one size, reused when the network has taken them at once. */
export class BatchPool {
  readonly #capacity: number
  readonly #mostIdle: number
  readonly #idle: Batch[] = []

  /** @param mostIdle how many unused ones it retains */
  constructor(capacity: number, mostIdle: number) {
    this.#capacity = capacity
    this.#mostIdle = mostIdle
  }

  take(): Batch {
    return this.#idle.pop() ?? new Batch(this.#capacity)
  }

  give(batch: Batch): void {
    if (this.#idle.length >= this.#mostIdle) return
    batch.clear()
    this.#idle.push(batch)
  }
}
