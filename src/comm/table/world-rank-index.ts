import { indexIn } from '../../base/search.js'

/** World rank -> rank for a table that has no closed form: world ranks ascending, and the rank of each. */
export class WorldRankIndex {
  readonly #worldRank: Int32Array
  readonly #rank: Int32Array

  constructor(worldRanks: Int32Array) {
    // World ranks and ranks are below 2^22, so a pair fits a double exactly and sorts without a comparator.
    const pairs = Float64Array.from(worldRanks, (worldRank, rank) => worldRank * 2 ** 22 + rank).sort()
    this.#worldRank = Int32Array.from(pairs, (pair) => Math.floor(pair / 2 ** 22))
    this.#rank = Int32Array.from(pairs, (pair) => pair % 2 ** 22)
  }

  get sizeBytes(): number {
    return this.#worldRank.byteLength + this.#rank.byteLength
  }

  /** -1 for world ranks that are not in the table. */
  find(worldRank: number): number {
    const index = indexIn(this.#worldRank, worldRank)
    return index < 0 ? -1 : this.#rank[index]
  }
}
