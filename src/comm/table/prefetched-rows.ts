import { indexIn } from '../../base/search.js'

/** The most rows that a process retains by prefetching for one communicator: 512 KiB. */
export const mostPrefetched = 65_536

/** The world ranks of ranks that were looked up ahead, 8 bytes each, retained as long as the communicator. */
export class PrefetchedRows {
  /** The ranks, ascending. */
  #ranks = new Int32Array(0)
  #worldRanks = new Int32Array(0)

  get size(): number {
    return this.#ranks.length
  }

  get sizeBytes(): number {
    return this.#ranks.byteLength + this.#worldRanks.byteLength
  }

  find(rank: number): number | undefined {
    const index = indexIn(this.#ranks, rank)
    return index < 0 ? undefined : this.#worldRanks[index]
  }

  /** Adds rows. Those that are known, and those beyond the limit, are dropped. */
  add(ranks: Int32Array, worldRanks: Int32Array): void {
    const rows = new Map<number, number>()
    for (let i = 0; i < ranks.length && this.size + rows.size < mostPrefetched; i++) {
      if (this.find(ranks[i]) === undefined) rows.set(ranks[i], worldRanks[i])
    }
    if (rows.size === 0) return
    const merged = Int32Array.from([...this.#ranks, ...rows.keys()]).sort()
    this.#worldRanks = merged.map((rank) => rows.get(rank) ?? this.find(rank)!)
    this.#ranks = merged
  }
}
