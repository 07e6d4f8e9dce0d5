import type { Schedule } from '../ir.js'
import type { Specification } from '../specification.js'
import { combinationHash, leafHash } from './association.js'
import { Parts } from './parts.js'

/** What a place holds before anything is written to it. */
export const empty = -(2 ** 31)

const mostBlocks = 2 ** 30

/**
 * What places hold: **terms**. A term is a block, numbered as in the specification, or a combination of two terms of the
 * same part, the i-th of which is `~i`. Combinations of the same operands in the same order are one term. An unknown term is what
 * a place holds of a part when it cannot be known.
 *
 * Of every term it is known without looking at its operands: its part, how many blocks it combines, a hash of how they are
 * associated, and, where its contributors are consecutive ranks, counted cyclically, which and whether in ascending order.
 *
 * Time of every operation O(1) on average, memory O(entries with partial results).
 */
export class TermTable {
  readonly parts: Parts
  readonly #ranks: number
  readonly #isIdempotent: boolean
  /** Open addressing: i + 1 for combination i, 0 where free. A power of two, at least twice the combinations. */
  readonly #slots: Int32Array
  readonly #left: Int32Array
  readonly #right: Int32Array
  readonly #part: Int32Array
  readonly #blocks: Int32Array
  /** Contributors as an interval of ranks, counted cyclically: the first, and how many; 0 if they are none. */
  readonly #first: Int32Array
  readonly #span: Int32Array
  readonly #isAscending: Uint8Array
  readonly #low: Int32Array
  readonly #high: Int32Array
  #count = 0

  /** @param most combinations and unknown terms that will be made */
  constructor(specification: Specification, most: number) {
    this.parts = new Parts(specification)
    this.#ranks = specification.ranks
    this.#isIdempotent = specification.reductions.isIdempotent
    this.#slots = new Int32Array(2 ** Math.ceil(Math.log2(2 * most + 1)))
    this.#left = new Int32Array(most)
    this.#right = new Int32Array(most)
    this.#part = new Int32Array(most)
    this.#blocks = new Int32Array(most)
    this.#first = new Int32Array(most)
    this.#span = new Int32Array(most)
    this.#isAscending = new Uint8Array(most)
    this.#low = new Int32Array(most)
    this.#high = new Int32Array(most)
  }

  /** A term of a part of which nothing else is known. */
  unknown(part: number): number {
    const term = this.#find(empty, part)
    if (this.#isNew(term)) this.#part[this.#count++] = part
    return term
  }

  /** Operands of the same part. */
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

  /** How many blocks it combines, repetitions counted, but at most 2^30; 0 if unknown. */
  blocksIn(term: number): number {
    return term < 0 ? this.#blocks[~term] : 1
  }

  /**
   * How many contributors it has if they are consecutive ranks, counted cyclically, and, but for idempotent reductions, each
   * contributes once; else 0.
   */
  spanOf(term: number): number {
    return term < 0 ? this.#span[~term] : 1
  }

  /** The first of the consecutive ranks. */
  firstOf(term: number): number {
    return term < 0 ? this.#first[~term] : this.parts.originOf(term)
  }

  /** Whether they are combined in ascending order, each once; the first rank follows the last. */
  isAscending(term: number): boolean {
    return term >= 0 || this.#isAscending[~term] === 1
  }

  /** A half of the hash of how its contributors are associated. */
  hashOf(term: number, half: 0 | 1): number {
    return term < 0 ? (half === 0 ? this.#low : this.#high)[~term] : leafHash(this.parts.originOf(term), half)
  }

  /** The term, or the next free number if there is none yet. */
  #find(left: number, right: number): number {
    const mask = this.#slots.length - 1
    let slot = combinationHash(left, right, 0) & mask
    for (; this.#slots[slot] !== 0; slot = (slot + 1) & mask) {
      const i = this.#slots[slot] - 1
      if (this.#left[i] === left && this.#right[i] === right) return ~i
    }
    const i = this.#count
    this.#slots[slot] = i + 1
    this.#left[i] = left
    this.#right[i] = right
    return ~i
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

  /** The union of two intervals, if it is one. */
  #join(i: number, left: number, right: number): void {
    const ranks = this.#ranks
    const [a, b] = [this.firstOf(left), this.firstOf(right)]
    const [spanA, spanB] = [this.spanOf(left), this.spanOf(right)]
    const fromA = b >= a ? b - a : b - a + ranks // where the right one begins, counted from the left one's first
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

/** How many combinations and unknown terms a schedule can make. */
export function mostCombinations({ entryBlock }: Schedule): number {
  let most = 0
  for (let e = 0; e < entryBlock.length; e++) if (entryBlock[e] < 0) most++
  return most
}
