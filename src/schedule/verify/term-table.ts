import { mixed } from '../../base/hash.js'
import { rangeAt } from '../../base/search.js'
import type { Specification } from '../specification.js'

/**
 * The origin and part of every block. Look-ups take O(1) if all ranks have equally many parts, as in every reduction;
 * else O(lg ranks).
 */
export class Parts {
  readonly #partStart: Int32Array
  /** The number of parts of every rank, 0 if they differ. */
  readonly perRank: number

  constructor({ partStart, ranks }: Specification) {
    this.#partStart = partStart
    let same = ranks === 0 ? 0 : partStart[1]
    for (let rank = 1; rank < ranks && same > 0; rank++) {
      if (partStart[rank + 1] - partStart[rank] !== same) same = 0
    }
    this.perRank = same
  }

  originOf(block: number): number {
    return this.perRank > 0 ? Math.trunc(block / this.perRank) : rangeAt(this.#partStart, block)
  }

  partOf(block: number): number {
    return this.perRank > 0 ? block % this.perRank : block - this.#partStart[rangeAt(this.#partStart, block)]
  }
}

/** The contents of a place before anything is written to it. */
export const empty = -(2 ** 31)

const mostBlocks = 2 ** 30
/** The number of combinations for which there is room at first; a power of two. */
const fewest = 1024

/**
 * The contents of places: **terms**. A term is a block, numbered as in the specification, or a combination of two terms
 * of the same part. Combination i is `~i`. Combinations of the same operands in the same order are one term. An unknown
 * term stands for a value of a part that cannot be determined.
 *
 * The table knows of every term, without reading its operands: its part, the number of blocks it combines, and a hash
 * of their association. If its contributors are consecutive ranks, counted cyclically, it also knows them and whether
 * they ascend.
 *
 * Every operation takes O(1) time on average; memory is O(different combinations).
 */
export class TermTable {
  readonly parts: Parts
  readonly #ranks: number
  readonly #isIdempotent: boolean
  /**
   * The slots of open addressing: i + 1 for combination i, 0 for a free one. Their number is a power of two, at least
   * twice the combinations.
   */
  #slots = new Int32Array(2 * fewest)
  #left = new Int32Array(fewest)
  #right = new Int32Array(fewest)
  #part = new Int32Array(fewest)
  #blocks = new Int32Array(fewest)
  /** The first rank of the contributors, if they form an interval, counted cyclically. */
  #first = new Int32Array(fewest)
  /** The length of that interval; 0 if they form none. */
  #span = new Int32Array(fewest)
  #isAscending = new Uint8Array(fewest)
  #low = new Int32Array(fewest)
  #high = new Int32Array(fewest)
  #count = 0

  constructor(specification: Specification) {
    this.parts = new Parts(specification)
    this.#ranks = specification.ranks
    this.#isIdempotent = specification.reductions.isIdempotent
  }

  /** Returns a term of a part of which nothing else is known. */
  unknown(part: number): number {
    const term = this.#find(empty, part)
    if (this.#isNew(term)) this.#part[this.#count++] = part
    return term
  }

  /** Returns the combination of operands of the same part. */
  combined(left: number, right: number): number {
    const term = this.#find(left, right)
    if (this.#isNew(term)) this.#describe(this.#count++, left, right)
    return term
  }

  leftOf(combination: number): number {
    return this.#left[~combination]
  }

  rightOf(combination: number): number {
    return this.#right[~combination]
  }

  isUnknown(term: number): boolean {
    return term < 0 && this.#blocks[~term] === 0
  }

  partOf(term: number): number {
    return term < 0 ? this.#part[~term] : this.parts.partOf(term)
  }

  /** Returns the number of blocks it combines, repetitions counted, but at most 2^30; 0 if unknown. */
  blocksIn(term: number): number {
    return term < 0 ? this.#blocks[~term] : 1
  }

  /**
   * Returns the number of contributors if they are consecutive ranks, counted cyclically, and each contributes once,
   * which idempotent reductions need not; else 0.
   */
  spanOf(term: number): number {
    return term < 0 ? this.#span[~term] : 1
  }

  /** Returns the first of the consecutive ranks. */
  firstOf(term: number): number {
    return term < 0 ? this.#first[~term] : this.parts.originOf(term)
  }

  /** Whether they are combined in ascending order, each once; the first rank follows the last. */
  isAscending(term: number): boolean {
    return term >= 0 || this.#isAscending[~term] === 1
  }

  /** Returns a half of the hash of how its contributors are associated. */
  hashOf(term: number, half: 0 | 1): number {
    return term < 0 ? (half === 0 ? this.#low : this.#high)[~term] : leafHash(this.parts.originOf(term), half)
  }

  /** Returns the term, or the next free number if there is none yet. */
  #find(left: number, right: number): number {
    const mask = this.#slots.length - 1
    let slot = combinationHash(left, right, 0) & mask
    for (; this.#slots[slot] !== 0; slot = (slot + 1) & mask) {
      const i = this.#slots[slot] - 1
      if (this.#left[i] === left && this.#right[i] === right) return ~i
    }
    const i = this.#count
    if (i === this.#left.length) {
      this.#grow()
      return this.#find(left, right)
    }
    this.#slots[slot] = i + 1
    this.#left[i] = left
    this.#right[i] = right
    return ~i
  }

  #grow(): void {
    const most = 2 * this.#left.length
    this.#left = grown(this.#left, new Int32Array(most))
    this.#right = grown(this.#right, new Int32Array(most))
    this.#part = grown(this.#part, new Int32Array(most))
    this.#blocks = grown(this.#blocks, new Int32Array(most))
    this.#first = grown(this.#first, new Int32Array(most))
    this.#span = grown(this.#span, new Int32Array(most))
    this.#isAscending = grown(this.#isAscending, new Uint8Array(most))
    this.#low = grown(this.#low, new Int32Array(most))
    this.#high = grown(this.#high, new Int32Array(most))
    this.#slots = new Int32Array(2 * most)
    const mask = 2 * most - 1
    for (let i = 0; i < this.#count; i++) {
      let slot = combinationHash(this.#left[i], this.#right[i], 0) & mask
      while (this.#slots[slot] !== 0) slot = (slot + 1) & mask
      this.#slots[slot] = i + 1
    }
  }

  #isNew(term: number): boolean {
    return ~term === this.#count
  }

  #describe(i: number, left: number, right: number): void {
    this.#part[i] = this.partOf(left)
    this.#low[i] = combinationHash(this.hashOf(left, 0), this.hashOf(right, 0), 0)
    this.#high[i] = combinationHash(this.hashOf(left, 1), this.hashOf(right, 1), 1)
    const [leftBlocks, rightBlocks] = [this.blocksIn(left), this.blocksIn(right)]
    if (leftBlocks === 0 || rightBlocks === 0) return
    this.#blocks[i] = Math.min(leftBlocks + rightBlocks, mostBlocks)
    if (this.spanOf(left) > 0 && this.spanOf(right) > 0) this.#join(i, left, right)
  }

  /** Records the union of two intervals, if it is one. */
  #join(i: number, left: number, right: number): void {
    const ranks = this.#ranks
    const [a, b] = [this.firstOf(left), this.firstOf(right)]
    const [spanA, spanB] = [this.spanOf(left), this.spanOf(right)]
    const fromA = b >= a ? b - a : b - a + ranks // the start of the right one, counted from the left one's first
    const fromB = fromA === 0 ? 0 : ranks - fromA
    const isDisjoint = spanA + spanB <= ranks
    if (isDisjoint && fromA === spanA) {
      this.#first[i] = a
      this.#span[i] = spanA + spanB
      this.#isAscending[i] = this.isAscending(left) && this.isAscending(right) ? 1 : 0
    } else if (isDisjoint && fromB === spanB) {
      this.#first[i] = b
      this.#span[i] = spanA + spanB
    } else if (this.#isIdempotent && fromA <= spanA) {
      this.#first[i] = a
      this.#span[i] = Math.min(Math.max(spanA, fromA + spanB), ranks)
    } else if (this.#isIdempotent && fromB <= spanB) {
      this.#first[i] = b
      this.#span[i] = Math.min(Math.max(spanB, fromB + spanA), ranks)
    }
  }
}

function grown<A extends Int32Array | Uint8Array>(from: A, to: A): A {
  to.set(from)
  return to
}

/**
 * Hashes a contributor by its rank. Hashes show how contributors are associated: that of a combination follows from
 * those of its operands in their order. They have 64 bits, in two halves, and are equal by accident with probability
 * 2^-64.
 */

function leafHash(origin: number, half: 0 | 1): number {
  return mixed(origin ^ seeds[half], factors[half])
}

/** @param left the hash of the left operand, the same half */
function combinationHash(left: number, right: number, half: 0 | 1): number {
  return mixed(mixed(left ^ seeds[2 + half], factors[half]) + right, factors[half])
}

/** Returns the hash of one association, or of several in any order; null of none. */
export function hashOfAll(associations: Iterable<Association>): string | null {
  const all = [...associations].sort((a, b) => a.high - b.high || a.low - b.low)
  if (all.length === 0) return null
  return formatHash(all.reduce(combined))
}

/** Formats a hash as 16 hexadecimal digits. */
export function formatHash({ low, high }: Association): string {
  return [high, low].map((half) => (half >>> 0).toString(16).padStart(8, '0')).join('')
}

export interface Association {
  readonly low: number
  readonly high: number
}

export function combined(left: Association, right: Association): Association {
  return { low: combinationHash(left.low, right.low, 0), high: combinationHash(left.high, right.high, 1) }
}

export function leaf(origin: number): Association {
  return { low: leafHash(origin, 0), high: leafHash(origin, 1) }
}

const seeds = [0x2545f491, 0x6c62272e, 0x9e3779b9, 0x3c6ef372]
const factors = [0x85ebca6b, 0xc2b2ae35]
