/** A growing list of doubles in one typed array. */
export class NumberList {
  length = 0
  #items = new Float64Array(64)

  push(value: number): void {
    if (this.length === this.#items.length) {
      const larger = new Float64Array(2 * this.length)
      larger.set(this.#items)
      this.#items = larger
    }
    this.#items[this.length++] = value
  }

  /** A copy of exactly the items. */
  toArray(): Float64Array<ArrayBuffer> {
    return this.#items.slice(0, this.length)
  }
}
