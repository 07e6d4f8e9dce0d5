/** A collection of pending deliveries, in the order in which `take` returns them. */
export interface DeliveryOrder<T> {
  readonly size: number
  push(item: T): void
  take(): T | undefined
  clear(): void
}

/** An order that takes one of the items at random, each with the same probability. */
export class RandomOrder<T> implements DeliveryOrder<T> {
  readonly #random: () => number
  #items: T[] = []

  constructor(random: () => number) {
    this.#random = random
  }

  get size(): number {
    return this.#items.length
  }

  push(item: T): void {
    this.#items.push(item)
  }

  take(): T | undefined {
    const items = this.#items
    if (items.length === 0) return undefined
    const at = Math.floor(this.#random() * items.length)
    const item = items[at]!
    const last = items.pop()!
    if (at < items.length) items[at] = last
    return item
  }

  clear(): void {
    this.#items = []
  }
}
