/** An Int32Array that grows by doubling: appending costs amortised constant time and no boxing. */
export class GrowingInt32Array {
  #values: Int32Array
  #length = 0

  constructor(capacity = 64) {
    this.#values = new Int32Array(Math.max(1, capacity))
  }

  get length(): number {
    return this.#length
  }

  push(value: number): void {
    if (this.#length === this.#values.length) this.#grow()
    this.#values[this.#length++] = value
  }

  /** A view of what was appended, valid until the next push. */
  view(): Int32Array {
    return this.#values.subarray(0, this.#length)
  }

  /** An array of exactly the appended values. */
  toArray(): Int32Array {
    return this.#values.slice(0, this.#length)
  }

  #grow(): void {
    const larger = new Int32Array(this.#values.length * 2)
    larger.set(this.#values)
    this.#values = larger
  }
}
