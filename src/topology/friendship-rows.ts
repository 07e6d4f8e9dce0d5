import { countCommon, intersect } from './bit-rows.js'
import type { OpenSets } from './open-sets.js'

/** Friends of one rank that may still join: what each has in common with those chosen so far, as a bitset. */
export interface Candidates {
  count: number
  rank: Int32Array
  /** Ones in the candidate's row. */
  size: Int32Array
  /** `words` per candidate. */
  bits: Int32Array
}

/**
 * Candidates for a group around one rank p, one level per member chosen: at level 0 a friend's row is what it has in
 * common with p, at level 1 what it has in common with p and the first choice, and so on. Columns are p's own
 * out-neighbors, so rows are as short as p's list.
 */
export class FriendRows {
  /** Length of every row. */
  words = 0
  readonly levels: readonly Candidates[]
  readonly #sets: OpenSets
  #rank = -1
  /** Column of each of the rank's out-neighbors, -1 for all others. */
  readonly #column: Int32Array

  /** @param depth levels: the members that are to be chosen */
  constructor(sets: OpenSets, depth: number) {
    this.#sets = sets
    this.#column = new Int32Array(sets.end.length).fill(-1)
    this.levels = Array.from({ length: depth }, () => ({
      count: 0,
      rank: new Int32Array(0),
      size: new Int32Array(0),
      bits: new Int32Array(0),
    }))
  }

  /** Begins with p, of whom at most `friends` will be added. */
  open(p: number, friends: number): void {
    const { start, end, rank } = this.#sets
    const first = start[p]
    const columns = end[p] - first
    this.#rank = p
    for (let c = 0; c < columns; c++) this.#column[rank[first + c]] = c
    this.words = (columns + 31) >> 5
    this.clear(0, friends)
  }

  /** Must follow the last `add` for p. */
  close(p: number): void {
    const { start, end, rank } = this.#sets
    for (let e = start[p]; e < end[p]; e++) this.#column[rank[e]] = -1
  }

  /** Adds f at level 0 if it has more than `floor` in common with p. Returns how many it has. */
  add(f: number, floor: number): number {
    const size = this.#sizeOf(f)
    if (size <= floor) return size
    const level = this.levels[0]
    // Where nobody is chosen after this level, nobody reads its rows.
    if (this.levels.length > 1) this.#writeRow(f, level.bits, level.count * this.words)
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
    const { start, end, rank } = this.#sets
    const column = this.#column
    bits.fill(0, row, row + this.words)
    for (let e = start[f]; e < end[f]; e++) {
      const c = column[rank[e]]
      if (c >= 0) bits[row + (c >> 5)] |= 1 << (c & 31)
    }
  }

  /** Empties a level and makes room for `capacity` candidates. */
  clear(depth: number, capacity: number): void {
    const level = this.levels[depth]
    level.count = 0
    if (level.rank.length < capacity) {
      level.rank = new Int32Array(capacity * 2)
      level.size = new Int32Array(capacity * 2)
    }
    if (level.bits.length < capacity * this.words) level.bits = new Int32Array(capacity * this.words * 2)
  }

  /** Adds candidate j to the next level, given that i is chosen, if more than `floor` remains in common. */
  addBelow(depth: number, i: number, j: number, floor: number): void {
    const words = this.words
    const { bits, rank } = this.levels[depth]
    const below = this.levels[depth + 1]
    const size = intersect(bits, i * words, j * words, words, below.bits, below.count * words)
    if (size <= floor) return
    below.rank[below.count] = rank[j]
    below.size[below.count++] = size
  }
}
