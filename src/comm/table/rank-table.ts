import { indexIn } from '../../base/search.js'

/** Finds the rank of a world rank for a table that has no closed form: world ranks ascending, and the rank of each. */
class WorldRankIndex {
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

  /** Returns the rank; -1 for world ranks that are not in the table. */
  find(worldRank: number): number {
    const index = indexIn(this.#worldRank, worldRank)
    return index < 0 ? -1 : this.#rank[index]
  }
}

/**
 * Maps a rank in a communicator to its world rank, shared by all ranks of a process. `lookup` may return a promise: a
 * distributed table has most rows on other processes (decision 9), so callers must handle both.
 */
export interface RankTable {
  readonly kind: 'strided' | 'replicated' | 'distributed'
  readonly size: number
  lookup(rank: number): number | Promise<number>
  readonly sizeBytes: number
}

/** A table whose rows are all here. `find` returns the rank of a world rank, -1 if it has none. */
export type LocalRankTable = StridedTable | ReplicatedTable

/**
 * A table in which rank r is world rank `start + r * stride`: the world itself, its halves, rows and columns of grids.
 * O(1) memory.
 */
export class StridedTable implements RankTable {
  readonly kind = 'strided'
  readonly sizeBytes = 24
  readonly size: number
  readonly start: number
  readonly stride: number

  constructor(size: number, start: number, stride: number) {
    this.size = size
    this.start = start
    // A table has one form per content, so that equal tables compare equal field by field.
    this.stride = size > 1 ? stride : 1
  }

  lookup(rank: number): number {
    return this.start + rank * this.stride
  }

  find(worldRank: number): number {
    const rank = (worldRank - this.start) / this.stride
    // `| 0` also turns -0, which a falling stride gives, into 0.
    return Number.isInteger(rank) && rank >= 0 && rank < this.size ? rank | 0 : -1
  }
}

export class ReplicatedTable implements RankTable {
  readonly kind = 'replicated'
  #worldRanks: Int32Array
  #index: WorldRankIndex | undefined

  constructor(worldRanks: Int32Array) {
    this.#worldRanks = worldRanks
  }

  get worldRanks(): Int32Array {
    return this.#worldRanks
  }

  /** Replaces the array with an equal one. */
  adopt(worldRanks: Int32Array): void {
    this.#worldRanks = worldRanks
  }

  get size(): number {
    return this.#worldRanks.length
  }

  get sizeBytes(): number {
    return this.#worldRanks.byteLength + (this.#index?.sizeBytes ?? 0)
  }

  lookup(rank: number): number {
    return this.#worldRanks[rank]
  }

  find(worldRank: number): number {
    this.#index ??= new WorldRankIndex(this.#worldRanks)
    return this.#index.find(worldRank)
  }
}

/**
 * Builds the smallest table for the given distinct world ranks: `strided` when they form an arithmetic progression,
 * otherwise `replicated` (which retains `worldRanks` itself).
 */
export function rankTable(worldRanks: Int32Array): LocalRankTable {
  const size = worldRanks.length
  const start = size > 0 ? worldRanks[0] : 0
  const stride = size > 1 ? worldRanks[1] - start : 1
  for (let rank = 2; rank < size; rank++) {
    if (worldRanks[rank] !== start + rank * stride) return new ReplicatedTable(worldRanks)
  }
  return new StridedTable(size, start, stride)
}

/** Returns the world ranks `start`, `start + stride`, ... without listing them. */
export function stridedTable(size: number, start = 0, stride = 1): LocalRankTable {
  return new StridedTable(size, start, stride)
}

/** Returns the world rank of every rank. A replicated table returns its own array: do not write to it. */
export function worldRanksOf(table: LocalRankTable): Int32Array {
  if (table.kind === 'replicated') return table.worldRanks
  const { size, start, stride } = table
  const worldRanks = new Int32Array(size)
  for (let rank = 0, worldRank = start; rank < size; rank++, worldRank += stride) worldRanks[rank] = worldRank
  return worldRanks
}
