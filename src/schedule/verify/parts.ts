import { rangeAt } from '../../base/search.js'
import type { Specification } from '../specification.js'

/**
 * Origin and part of every block. O(1) where all ranks have equally many parts, as in every reduction; else
 * O(lg ranks).
 */
export class Parts {
  readonly #partStart: Int32Array
  /** Parts of every rank, 0 where they differ. */
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
