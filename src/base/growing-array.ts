import { RankweaveError } from '../errors.js'

let mostBytes = Number.POSITIVE_INFINITY
let boundedBy = ''

/**
 * Bounds every growing list of this thread for good, for threads that work on untrusted input.
 *
 * @param by the origin of the bound, for errors
 */
export function boundGrowingArrays(bytes: number, by: string): void {
  mostBytes = bytes
  boundedBy = by
}

/** A growing list of 32-bit integers in one typed array: appending takes amortized constant time and boxes nothing. */
export class GrowingInt32Array {
  length = 0
  #items: Int32Array<ArrayBuffer>

  constructor(capacity = 64) {
    this.#items = new Int32Array(Math.max(1, capacity))
  }

  push(value: number): void {
    if (this.length === this.#items.length) this.#items = enlarged(Int32Array, this.#items, this.length + 1)
    this.#items[this.length++] = value
  }

  append(values: Int32Array): void {
    const length = this.length + values.length
    if (length > this.#items.length) this.#items = enlarged(Int32Array, this.#items, length)
    this.#items.set(values, this.length)
    this.length = length
  }

  /** Returns the item at an index below `length`. */
  get(index: number): number {
    return this.#items[index]
  }

  set(index: number, value: number): void {
    this.#items[index] = value
  }

  /** Returns a view of the items, valid until the next `push` or `append`. */
  view(): Int32Array<ArrayBuffer> {
    return this.#items.subarray(0, this.length)
  }

  /** Returns a copy of exactly the items. */
  toArray(): Int32Array<ArrayBuffer> {
    return this.#items.slice(0, this.length)
  }
}

export class GrowingFloat64Array {
  length = 0
  #items = new Float64Array(64)

  push(value: number): void {
    if (this.length === this.#items.length) this.#items = enlarged(Float64Array, this.#items, this.length + 1)
    this.#items[this.length++] = value
  }

  /** Returns a copy of exactly the items. */
  toArray(): Float64Array<ArrayBuffer> {
    return this.#items.slice(0, this.length)
  }
}

/**
 * Returns the items in an array of at least `needed` elements, twice as long as before if the bound permits.
 * @throws ERR_LIMIT
 */
function enlarged<A extends Int32Array | Float64Array>(
  ArrayOf: new (length: number) => A,
  items: A,
  needed: number,
): A {
  const most = Math.floor(mostBytes / items.BYTES_PER_ELEMENT)
  if (needed > most)
    throw new RankweaveError('ERR_LIMIT', `expected at most ${most} items in a list (${boundedBy})`)
  const larger = new ArrayOf(Math.max(needed, Math.min(2 * items.length, most)))
  larger.set(items)
  return larger
}
