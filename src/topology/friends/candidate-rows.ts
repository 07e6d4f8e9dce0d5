import { countCommon, intersect } from './bit-rows.js'
import { RowCompressor } from './row-compressor.js'

/**
 * The candidates that may still join. Each has a bitset of the columns that it has in common with the members chosen so
 * far.
 */
export interface Candidates {
  count: number
  /** The number of words of a row. */
  words: number
  rank: Int32Array
  /** The number of ones in each candidate's row. */
  size: Int32Array
  bits: Int32Array
}

/**
 * Rows are compressed below a choice that leaves at most this fraction of the words, because the levels below gain
 * more.
 */
const worthSqueezing = 0.7

/**
 * Candidates for a group around one rank p, one level per member chosen: at level 0 a friend's row has the columns in
 * common with p, at level 1 those in common with p and the first choice. Columns are p's out-neighbors; below a choice
 * only those that the choice has, if that makes rows much shorter.
 */
export class CandidateRows {
  readonly levels: readonly Candidates[]
  readonly #compressor = new RowCompressor()
  #squeezes = false

  /** @param depth levels: the number of members to choose */
  constructor(depth: number) {
    this.levels = Array.from({ length: depth }, () => ({
      count: 0,
      words: 0,
      rank: new Int32Array(0),
      size: new Int32Array(0),
      bits: new Int32Array(0),
    }))
  }

  /** Empties level 0 and makes room for `capacity` candidates with rows of `words` words. */
  open(capacity: number, words: number): Candidates {
    const level = this.levels[0]
    level.words = words
    clear(level, capacity)
    return level
  }

  /** Begins the next level, given that candidate i is chosen. */
  choose(depth: number, i: number): void {
    const { bits, count, size, words } = this.levels[depth]
    const below = this.levels[depth + 1]
    const squeezed = (size[i] + 31) >> 5
    this.#squeezes = squeezed <= words * worthSqueezing
    below.words = this.#squeezes ? squeezed : words
    clear(below, count)
    if (this.#squeezes) this.#compressor.prepare(bits, i * words, words)
  }

  /** Adds candidate j to the next level, given that i is chosen, if more than `floor` remains in common. */
  addBelow(depth: number, i: number, j: number, floor: number): void {
    const { bits, rank, words } = this.levels[depth]
    const below = this.levels[depth + 1]
    const to = below.count * below.words
    const size = this.#squeezes
      ? this.#compressor.compress(bits, j * words, below.bits, to)
      : intersect(bits, i * words, j * words, words, below.bits, to)
    if (size <= floor) return
    below.rank[below.count] = rank[j]
    below.size[below.count++] = size
  }

  /** Returns the number of columns that candidates i and j of a level have in common. */
  common(depth: number, i: number, j: number): number {
    const { bits, words } = this.levels[depth]
    return countCommon(bits, i * words, j * words, words)
  }
}

function clear(level: Candidates, capacity: number): void {
  level.count = 0
  if (level.rank.length < capacity) {
    level.rank = new Int32Array(capacity * 2)
    level.size = new Int32Array(capacity * 2)
  }
  // Candidates are written before the search knows whether they stay.
  if (level.bits.length < (capacity + 1) * level.words)
    level.bits = new Int32Array((capacity + 1) * level.words * 2)
}
