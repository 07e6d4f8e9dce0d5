import type { Schedule } from '../ir.js'

/** The value in every place of the hosted ranks. */
export class HeldValues {
  readonly #start: Int32Array
  readonly #value: Int32Array
  readonly #ownCount: Int32Array

  /** @param ownStart the values that the i-th hosted rank contributes: from there up to the next */
  constructor({ specification, staging }: Schedule, ranks: Int32Array, ownStart: Int32Array) {
    const { slotStart } = specification
    this.#start = new Int32Array(ranks.length + 1)
    this.#ownCount = new Int32Array(ranks.length)
    for (let i = 0; i < ranks.length; i++) {
      const rank = ranks[i]
      this.#ownCount[i] = ownStart[i + 1] - ownStart[i]
      const slots = slotStart[rank + 1] - slotStart[rank]
      this.#start[i + 1] = this.#start[i] + this.#ownCount[i] + slots + staging[rank]
    }
    this.#value = new Int32Array(this.#start[ranks.length]).fill(-1)
    for (let i = 0; i < ranks.length; i++) {
      for (let own = 0; own < this.#ownCount[i]; own++) this.#value[this.#start[i] + own] = ownStart[i] + own
    }
  }

  /** Returns the value in a place of the i-th hosted rank; -1 if there is none. */
  get(i: number, place: number): number {
    const at = this.#start[i] + place
    return place >= 0 && at < this.#start[i + 1] ? this.#value[at] : -1
  }

  set(i: number, place: number, value: number): void {
    const at = this.#start[i] + place
    if (place >= 0 && at < this.#start[i + 1]) this.#value[at] = value
  }

  slot(i: number, slot: number): number {
    return this.get(i, this.#ownCount[i] + slot)
  }
}
