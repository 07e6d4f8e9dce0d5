/** World ranks looked up last, by position: at most `limit` of them; the least recently used is evicted first. */
export class AddressCache {
  hits = 0
  misses = 0
  readonly #limit: number
  readonly #found = new Map<number, number>()

  constructor(limit: number) {
    this.#limit = limit
  }

  get size(): number {
    return this.#found.size
  }

  find(position: number): number | undefined {
    const worldRank = this.#found.get(position)
    if (worldRank === undefined) {
      this.misses++
      return undefined
    }
    this.hits++
    // A map keeps the order of insertion: back to its end.
    this.#found.delete(position)
    this.#found.set(position, worldRank)
    return worldRank
  }

  has(position: number): boolean {
    return this.#found.has(position)
  }

  keep(position: number, worldRank: number): void {
    if (this.#limit === 0) return
    this.#found.delete(position)
    if (this.#found.size >= this.#limit) this.#found.delete(this.#found.keys().next().value!)
    this.#found.set(position, worldRank)
  }
}
