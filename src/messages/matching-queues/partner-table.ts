/** The list of a partner, and how many levels there were before it became one. */
export interface Partner {
  readonly list: number
  readonly level: number
}

/**
 * The partners by the key of their source. A bounded table has `floor(sqrt(processes))` buckets of a few slots; a
 * source whose bucket is full does not become a partner.
 *
 * @see Ghazimirsaeed 2019 chapter 4 (bounded memory)
 */
export class PartnerTable {
  readonly buckets: number
  readonly #slots: number
  readonly #used: Int32Array
  readonly #partners = new Map<number, Partner>()

  /** @param slots of a bucket; Infinity: without a bound */
  constructor(processes: number, slots: number) {
    this.buckets = Math.max(1, Math.floor(Math.sqrt(processes)))
    this.#slots = slots
    this.#used = new Int32Array(this.buckets)
  }

  get size(): number {
    return this.#partners.size
  }

  get isFull(): boolean {
    return this.size >= this.buckets * this.#slots
  }

  get used(): readonly number[] {
    return [...this.#used]
  }

  /** The slots of the table: as many as there are partners, if nothing bounds it. */
  get slots(): number {
    return Number.isFinite(this.#slots) ? this.buckets * this.#slots : this.size
  }

  get(key: number): Partner | undefined {
    return this.#partners.get(key)
  }

  /** Adds a key that is not in the table; returns false if its bucket is full. */
  add(key: number, level: number): boolean {
    const bucket = key % this.buckets
    if (this.#used[bucket] >= this.#slots) return false
    this.#used[bucket]++
    this.#partners.set(key, { list: this.size, level })
    return true
  }
}
