import type { Schedule } from '../ir.js'
import { empty } from './term-table.js'

/**
 * The contents of every place of every rank, and whether it is read. A rank may claim any number of temporary places,
 * but memory is bounded by the specification and by the places that its operations touch.
 */
export class HeldTerms {
  /** The terms, by index of place. */
  readonly holds: Int32Array
  readonly isRead: Uint8Array
  /** The index of the first place of every rank. Length ranks + 1. */
  readonly start: Int32Array
  /** Places of a rank below this have consecutive indices; the others have an entry in `#sparse`. */
  readonly #dense: Int32Array
  readonly #sparse: (ReadonlyMap<number, number> | undefined)[] = []

  /** Fills own places with their blocks; the others hold nothing. */
  constructor(schedule: Schedule) {
    const { ranks, ownStart, ownBlock, slotStart } = schedule.specification
    this.start = new Int32Array(ranks + 1)
    this.#dense = new Int32Array(ranks)
    for (let rank = 0; rank < ranks; rank++) {
      const own = ownStart[rank + 1] - ownStart[rank]
      const fixed = own + slotStart[rank + 1] - slotStart[rank]
      let count = fixed + schedule.staging[rank]
      this.#dense[rank] = count
      if (!usesItsStaging(schedule, rank)) {
        this.#dense[rank] = fixed
        const touched = touchedPlaces(schedule, rank, fixed, this.start[rank])
        this.#sparse[rank] = touched
        count = fixed + touched.size
      }
      this.start[rank + 1] = this.start[rank] + count
    }
    this.holds = new Int32Array(this.start[ranks]).fill(empty)
    this.isRead = new Uint8Array(this.start[ranks])
    for (let rank = 0; rank < ranks; rank++) {
      const shift = this.start[rank] - ownStart[rank]
      for (let own = ownStart[rank]; own < ownStart[rank + 1]; own++) this.holds[own + shift] = ownBlock[own]
    }
  }

  /** Returns the index of a place of a rank. */
  at(rank: number, place: number): number {
    return place < this.#dense[rank] ? this.start[rank] + place : this.#sparse[rank]!.get(place)!
  }

  /** Returns the place that an index stands for. */
  placeAt(rank: number, index: number): number {
    const place = index - this.start[rank]
    if (place < this.#dense[rank]) return place
    for (const [touched, at] of this.#sparse[rank]!) if (at === index) return touched
    return -1
  }
}

/** Whether a rank may use all of its temporary places: an entry touches at most three. */
function usesItsStaging({ staging, opStart, entryStart }: Schedule, rank: number): boolean {
  const entries = entryStart[opStart[rank + 1]] - entryStart[opStart[rank]]
  return staging[rank] <= 3 * entries
}

/** Returns the temporary places that a rank reads or writes. */
function touchedPlaces(
  { opStart, entryStart, entryFrom, entryRight, entryTo }: Schedule,
  rank: number,
  fixed: number,
  start: number,
): Map<number, number> {
  const indices = new Map<number, number>()
  const touch = (place: number): void => {
    if (place >= fixed && !indices.has(place)) indices.set(place, start + fixed + indices.size)
  }
  for (let e = entryStart[opStart[rank]]; e < entryStart[opStart[rank + 1]]; e++) {
    touch(entryFrom[e])
    touch(entryTo[e])
    if (entryRight.length > 0) touch(entryRight[e])
  }
  return indices
}
