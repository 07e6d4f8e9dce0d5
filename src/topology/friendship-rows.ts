import { countCommon } from './bit-rows.js'
import type { CandidateRows, Candidates } from './candidate-rows.js'
import type { OpenSets } from './open-sets.js'

/** Fills level 0 of candidate rows with friends of one rank p: columns are p's own out-neighbors, so rows are short. */
export class FriendRows {
  readonly #rows: CandidateRows
  readonly #sets: OpenSets
  #rank = -1
  #level: Candidates
  /** Column of each of the rank's out-neighbors, -1 for all others. */
  readonly #column: Int32Array

  constructor(sets: OpenSets, rows: CandidateRows) {
    this.#rows = rows
    this.#sets = sets
    this.#level = rows.levels[0]
    this.#column = new Int32Array(sets.end.length).fill(-1)
  }

  /** Begins with p, of whom at most `friends` will be added. */
  open(p: number, friends: number): void {
    const { start, end, rank } = this.#sets
    const first = start[p]
    const columns = end[p] - first
    this.#rank = p
    for (let c = 0; c < columns; c++) this.#column[rank[first + c]] = c
    this.#level = this.#rows.open(friends, (columns + 31) >> 5)
  }

  /** Must follow the last `add` for p. */
  close(p: number): void {
    const { start, end, rank } = this.#sets
    for (let e = start[p]; e < end[p]; e++) this.#column[rank[e]] = -1
  }

  /** Adds f if it has more than `floor` in common with p. Returns how many it has. */
  add(f: number, floor: number): number {
    const size = this.#sizeOf(f)
    if (size <= floor) return size
    const level = this.#level
    // Where nobody is chosen after this level, nobody reads its rows.
    if (this.#rows.levels.length > 1) this.#writeRow(f, level.bits, level.count * level.words)
    level.rank[level.count] = f
    level.size[level.count++] = size
    return size
  }

  #sizeOf(f: number): number {
    const { start, end, rank, dense } = this.#sets
    if (dense !== null) return countCommon(dense.bits, this.#rank * dense.words, f * dense.words, dense.words)
    const column = this.#column
    let size = 0
    for (let e = start[f]; e < end[f]; e++) if (column[rank[e]] >= 0) size++
    return size
  }

  #writeRow(f: number, bits: Int32Array, row: number): void {
    const { start, end, rank, dense } = this.#sets
    if (dense !== null) {
      // Column by column without a branch: a third of the time of going through f's neighbors.
      const from = f * dense.words
      const first = start[this.#rank]
      const last = end[this.#rank]
      for (let e = first, at = row; e < last; at++) {
        const stop = Math.min(last, e + 32)
        let word = 0
        for (let bit = 0; e < stop; e++, bit++) {
          const q = rank[e]
          word |= ((dense.bits[from + (q >> 5)] >>> (q & 31)) & 1) << bit
        }
        bits[at] = word
      }
      return
    }
    const column = this.#column
    bits.fill(0, row, row + this.#level.words)
    for (let e = start[f]; e < end[f]; e++) {
      const c = column[rank[e]]
      if (c >= 0) bits[row + (c >> 5)] |= 1 << (c & 31)
    }
  }
}
