import { GrowingInt32Array } from '../../base/growing-array.js'

/** A row of integers for each rank, given in any order; ranks without one have an empty row. */
export class RankRows {
  readonly #values = new GrowingInt32Array()
  /** The start of each rank's row in the values. */
  readonly #first: Int32Array
  readonly #length: Int32Array
  #isAscending = true
  #last = -1

  constructor(ranks: number) {
    this.#first = new Int32Array(ranks)
    this.#length = new Int32Array(ranks)
  }

  /** Sets the row of a rank, at most once for each. */
  set(rank: number, row: readonly number[]): void {
    this.#first[rank] = this.#values.length
    this.#length[rank] = row.length
    for (let i = 0; i < row.length; i++) this.#values.push(row[i])
    if (rank < this.#last) this.#isAscending = false
    this.#last = rank
  }

  /** Returns compressed rows: those of rank r are `start[r]` up to the next. */
  compressed(): [start: Int32Array, values: Int32Array] {
    const length = this.#length
    const start = new Int32Array(length.length + 1)
    for (let rank = 0; rank < length.length; rank++) start[rank + 1] = start[rank] + length[rank]
    if (this.#isAscending) return [start, this.#values.toArray()]
    const given = this.#values.view()
    const values = new Int32Array(given.length)
    for (let rank = 0; rank < length.length; rank++) {
      const first = this.#first[rank]
      values.set(given.subarray(first, first + length[rank]), start[rank])
    }
    return [start, values]
  }
}
