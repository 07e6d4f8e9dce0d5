/** A growing list of 32-bit integers in one typed array. */
export class IntList {
  length = 0
  #items: Int32Array

  constructor(capacity = 64) {
    this.#items = new Int32Array(Math.max(1, capacity))
  }

  push(value: number): void {
    if (this.length === this.#items.length) this.#grow(this.length + 1)
    this.#items[this.length++] = value
  }

  /** The item at a place below `length`. */
  get(at: number): number {
    return this.#items[at]
  }

  set(at: number, value: number): void {
    this.#items[at] = value
  }

  append(values: Int32Array): void {
    if (this.length + values.length > this.#items.length) this.#grow(this.length + values.length)
    this.#items.set(values, this.length)
    this.length += values.length
  }

  /** A copy of exactly the items. */
  toArray(): Int32Array {
    return this.#items.slice(0, this.length)
  }

  #grow(needed: number): void {
    const larger = new Int32Array(Math.max(needed, this.#items.length * 2))
    larger.set(this.#items)
    this.#items = larger
  }
}
