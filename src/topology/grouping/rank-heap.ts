/** Ranks ordered by weight, the heaviest first, equal weights by smaller rank. A binary heap. */
export class RankHeap {
  size = 0
  readonly #items: Int32Array
  readonly #weight: Int32Array

  /** `weight[p]` orders rank p; it is read on demand. After lowering the top's weight call `settleTop`. */
  constructor(weight: Int32Array) {
    this.#weight = weight
    this.#items = new Int32Array(weight.length)
  }

  fill(ranks: Int32Array, count: number): void {
    this.#items.set(count === ranks.length ? ranks : ranks.subarray(0, count))
    this.size = count
    for (let i = (count >> 1) - 1; i >= 0; i--) this.#sink(i)
  }

  top(): number {
    return this.#items[0]
  }

  pop(): void {
    this.#items[0] = this.#items[--this.size]
    this.#sink(0)
  }

  settleTop(): void {
    this.#sink(0)
  }

  #sink(from: number): void {
    const items = this.#items
    const rank = items[from]
    let at = from
    for (;;) {
      let child = 2 * at + 1
      if (child >= this.size) break
      if (child + 1 < this.size && this.#before(items[child + 1], items[child])) child++
      if (!this.#before(items[child], rank)) break
      items[at] = items[child]
      at = child
    }
    items[at] = rank
  }

  #before(a: number, b: number): boolean {
    const difference = this.#weight[a] - this.#weight[b]
    return difference > 0 || (difference === 0 && a < b)
  }
}
