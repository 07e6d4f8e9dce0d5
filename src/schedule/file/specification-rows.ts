import { GrowingInt32Array } from '../../base/growing-array.js'
import type { Reductions, Specification } from '../specification.js'
import { type Header, partStartOf } from './header.js'

/** The blocks `first`, `first + stride` and so on. */
export type BlockRun = readonly [first: number, count: number, stride: number]

/** The demand on a slot: a block, or the reduction of runs. */
export type SlotTerm = number | readonly BlockRun[]

/**
 * The specification of a file, collected line by line in any order. Equal reductions of several slots become
 * one.
 */
export class SpecificationRows {
  readonly #header: Header
  readonly #own: RankRows
  readonly #slots: RankRows
  readonly #numbers = new Map<string, number>()
  readonly #runStart = new GrowingInt32Array()
  /** Each run has three numbers. */
  readonly #runs = new GrowingInt32Array()

  constructor(header: Header) {
    this.#header = header
    this.#own = new RankRows(header.ranks)
    this.#slots = new RankRows(header.ranks)
    this.#runStart.push(0)
  }

  add(rank: number, own: readonly number[], slots: readonly SlotTerm[]): void {
    this.#own.set(rank, own)
    this.#slots.set(
      rank,
      slots.map((term) => (typeof term === 'number' ? term : ~this.#numberOf(term))),
    )
  }

  /** Reductions are numbered by rank and slot, whatever the order of the lines. */
  build(): Specification {
    const { collective, idempotent, ranks } = this.#header
    const [ownStart, ownBlock] = this.#own.compressed()
    const [slotStart, slotTerm] = this.#slots.compressed()
    const order: number[] = []
    const renumbered = new Int32Array(this.#numbers.size).fill(-1)
    for (let slot = 0; slot < slotTerm.length; slot++) {
      const term = slotTerm[slot]
      if (term >= 0) continue
      if (renumbered[~term] === -1) renumbered[~term] = order.push(~term) - 1
      slotTerm[slot] = ~renumbered[~term]
    }
    const partStart = partStartOf(this.#header)
    const reductions = this.#reductions(order, idempotent)
    return { collective, ranks, partStart, ownStart, ownBlock, slotStart, slotTerm, reductions }
  }

  /** Returns the number of a reduction, in the order in which the lines name them. */
  #numberOf(runs: readonly BlockRun[]): number {
    const key = runs.join()
    const known = this.#numbers.get(key)
    if (known !== undefined) return known
    for (const run of runs) for (const value of run) this.#runs.push(value)
    this.#runStart.push(this.#runs.length / 3)
    this.#numbers.set(key, this.#numbers.size)
    return this.#numbers.size - 1
  }

  #reductions(order: readonly number[], isIdempotent: boolean): Reductions {
    const [starts, runs] = [this.#runStart.view(), this.#runs.view()]
    const total = runs.length / 3
    const runStart = new Int32Array(order.length + 1)
    const [first, count, stride] = [new Int32Array(total), new Int32Array(total), new Int32Array(total)]
    let at = 0
    for (const [i, number] of order.entries()) {
      for (let run = starts[number]; run < starts[number + 1]; run++, at++) {
        first[at] = runs[3 * run]
        count[at] = runs[3 * run + 1]
        stride[at] = runs[3 * run + 2]
      }
      runStart[i + 1] = at
    }
    return { isIdempotent, runStart, first, count, stride }
  }
}

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
