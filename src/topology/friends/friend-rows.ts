import { countCommon } from './bit-rows.js'
import type { CandidateRows, Candidates } from './candidate-rows.js'
import type { OpenSets } from './open-sets.js'
import { RowCompressor } from './row-compressor.js'

/**
 * Fills level 0 of candidate rows with friends of one rank p: columns are p's own out-neighbors, so rows are
 * short.
 */
export class FriendRows {
  readonly #rows: CandidateRows
  readonly #sets: OpenSets
  #rank = -1
  #level: Candidates
  readonly #compressor = new RowCompressor()
  /** The column of each of the rank's out-neighbors, -1 for all others; used when sets are not dense. */
  readonly #column: Int32Array
  /** Whether the rows of level 0 are ever read: the search reads them only for choices after level 0. */
  readonly #rowsAreRead: boolean

  constructor(sets: OpenSets, rows: CandidateRows) {
    this.#rows = rows
    this.#sets = sets
    this.#level = rows.levels[0]
    this.#rowsAreRead = rows.levels.length > 1
    this.#column = new Int32Array(sets.end.length).fill(-1)
  }

  /** Begins with p, which will get at most `friends` friends. */
  open(p: number, friends: number): void {
    const { start, end, rank, dense } = this.#sets
    const first = start[p]
    const columns = end[p] - first
    this.#rank = p
    this.#level = this.#rows.open(friends, (columns + 31) >> 5)
    if (dense === null) for (let c = 0; c < columns; c++) this.#column[rank[first + c]] = c
    else if (this.#rowsAreRead) this.#compressor.prepare(dense.bits, p * dense.words, dense.words)
  }

  /** Ends p, after the last `add` for it. */
  close(p: number): void {
    const { start, end, rank, dense } = this.#sets
    if (dense === null) for (let e = start[p]; e < end[p]; e++) this.#column[rank[e]] = -1
  }

  /** Adds f if it has more than `floor` neighbors in common with p. Returns how many it has in common. */
  add(f: number, floor: number): number {
    const level = this.#level
    const row = level.count * level.words
    const { dense } = this.#sets
    let size: number
    if (dense === null) size = this.#countListed(f)
    else if (this.#rowsAreRead) size = this.#compressor.compress(dense.bits, f * dense.words, level.bits, row)
    else size = countCommon(dense.bits, this.#rank * dense.words, f * dense.words, dense.words)
    if (size <= floor) return size
    if (dense === null && this.#rowsAreRead) this.#writeListed(f, level.bits, row)
    level.rank[level.count] = f
    level.size[level.count++] = size
    return size
  }

  #countListed(f: number): number {
    const { start, end, rank } = this.#sets
    const column = this.#column
    let size = 0
    for (let e = start[f]; e < end[f]; e++) if (column[rank[e]] >= 0) size++
    return size
  }

  #writeListed(f: number, bits: Int32Array, row: number): void {
    const { start, end, rank } = this.#sets
    const column = this.#column
    bits.fill(0, row, row + this.#level.words)
    for (let e = start[f]; e < end[f]; e++) {
      const c = column[rank[e]]
      if (c >= 0) bits[row + (c >> 5)] |= 1 << (c & 31)
    }
  }
}
