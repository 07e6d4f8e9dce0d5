/** A first-in, first-out queue; O(1) amortized, and an empty queue retains no memory. */
export class Queue<T> {
  #items: T[] = []
  #head = 0

  get size(): number {
    return this.#items.length - this.#head
  }

  push(item: T): void {
    this.#items.push(item)
  }

  peek(): T | undefined {
    return this.#items[this.#head]
  }

  take(): T | undefined {
    if (this.size === 0) return undefined
    const item = this.#items[this.#head]!
    this.#head++
    if (this.#head === this.#items.length) {
      this.#items = []
      this.#head = 0
    } else if (this.#head >= 1024 && this.#head * 2 > this.#items.length) {
      this.#items = this.#items.slice(this.#head)
      this.#head = 0
    }
    return item
  }

  clear(): void {
    this.#items = []
    this.#head = 0
  }
}
