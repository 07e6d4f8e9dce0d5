import { ones } from '../../base/ascending-set.js'
import type { NeighborSets } from '../neighbors.js'

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

/**
 * The candidates that may still join. Each has a bitset of the columns that it has in common with the members chosen so
 * far.
 */
interface Candidates {
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

const compressionSteps = 5

/**
 * Selects columns of rows of bits and packs them: parallel suffix compression, as in Warren, Hacker's
 * Delight, section 7-4, with the work that depends on the columns alone done once.
 */
export class RowCompressor {
  /** The number of words with selected columns; the arrays below have one entry or `compressionSteps` entries for each. */
  #count = 0
  #word = new Int32Array(0)
  #mask = new Int32Array(0)
  /** The bits of each word that move by 1, 2, 4, 8 and 16 places. */
  #moves = new Int32Array(0)
  #selected = new Int32Array(0)

  /** Selects the columns set in a row: `words` words of `bits` from word `at`. */
  prepare(bits: Int32Array, at: number, words: number): void {
    if (this.#mask.length < words) {
      this.#word = new Int32Array(words)
      this.#mask = new Int32Array(words)
      this.#selected = new Int32Array(words)
      this.#moves = new Int32Array(words * compressionSteps)
    }
    let count = 0
    for (let w = 0; w < words; w++) {
      let mask = bits[at + w]
      if (mask === 0) continue
      this.#word[count] = w
      this.#mask[count] = mask
      this.#selected[count] = ones(mask)
      let gaps = ~mask << 1
      for (let step = 0; step < compressionSteps; step++) {
        let parity = gaps ^ (gaps << 1)
        parity ^= parity << 2
        parity ^= parity << 4
        parity ^= parity << 8
        parity ^= parity << 16
        const moves = parity & mask
        this.#moves[count * compressionSteps + step] = moves
        mask = (mask ^ moves) | (moves >>> (1 << step))
        gaps &= ~parity
      }
      count++
    }
    this.#count = count
  }

  /**
   * Writes the selected columns of a row to word `to` of another array. Returns the number of ones among
   * them.
   */
  compress(bits: Int32Array, at: number, into: Int32Array, to: number): number {
    const places = this.#word
    const mask = this.#mask
    const moves = this.#moves
    const selected = this.#selected
    let size = 0
    let word = 0
    let filled = 0
    let out = to
    for (let i = 0, m = 0; i < this.#count; i++, m += compressionSteps) {
      let x = bits[at + places[i]] & mask[i]
      let moved = x & moves[m]
      x = (x ^ moved) | (moved >>> 1)
      moved = x & moves[m + 1]
      x = (x ^ moved) | (moved >>> 2)
      moved = x & moves[m + 2]
      x = (x ^ moved) | (moved >>> 4)
      moved = x & moves[m + 3]
      x = (x ^ moved) | (moved >>> 8)
      moved = x & moves[m + 4]
      x = (x ^ moved) | (moved >>> 16)
      word |= x << filled
      filled += selected[i]
      if (filled < 32) continue
      into[out++] = word
      size += ones(word)
      filled -= 32
      // These are the bits that did not fit; JavaScript shifts by 32 as by 0.
      word = filled === 0 ? 0 : x >>> (selected[i] - filled)
    }
    if (filled > 0) {
      into[out] = word
      size += ones(word)
    }
    return size
  }
}

/** Counts the ones that two rows of bits, which begin at words a and b of one array, have in common. */
export function countCommon(bits: Int32Array, a: number, b: number, words: number): number {
  let count = 0
  for (let w = 0; w < words; w++) count += ones(bits[a + w] & bits[b + w])
  return count
}

/** Writes the intersection of two rows to word `to` of another array. Returns its number of ones. */
function intersect(
  bits: Int32Array,
  a: number,
  b: number,
  words: number,
  into: Int32Array,
  to: number,
): number {
  let count = 0
  for (let w = 0; w < words; w++) {
    const common = bits[a + w] & bits[b + w]
    into[to + w] = common
    count += ones(common)
  }
  return count
}

/** Sets of ranks as compressed rows that may end before the next one begins. */
export interface OpenSets {
  /** The set of p is `rank[start[p]] .. rank[end[p] - 1]`, ascending. */
  readonly start: Int32Array
  readonly end: Int32Array
  readonly rank: Int32Array
  /** Bitsets of the same sets, if these are shorter than the lists; else null. */
  readonly dense: DenseSets | null
}

/** Set p is words `p * words` to `(p + 1) * words - 1`. */
export interface DenseSets {
  readonly words: number
  readonly bits: Int32Array
}

export function denseSets({ start, rank }: NeighborSets): DenseSets | null {
  const ranks = start.length - 1
  const words = (ranks + 31) >> 5
  if (words * ranks > rank.length) return null
  const bits = new Int32Array(words * ranks)
  for (let p = 0; p < ranks; p++) {
    for (let e = start[p]; e < start[p + 1]; e++) bits[p * words + (rank[e] >> 5)] |= 1 << (rank[e] & 31)
  }
  return { words, bits }
}
