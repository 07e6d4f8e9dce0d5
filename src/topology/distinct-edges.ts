import { type CompressedRows, rowStarts } from './compressed-rows.js'
import { checkTopologySize, topologyLimits } from './limits.js'

/** Edges between so many pairs of ranks, or fewer, are marked in a bitmap (32 MB); others are listed. */
const mostBits = 2 ** 28
const firstCapacity = 1 << 16

/** A set of edges. Memory grows with the distinct edges only. */
interface DistinctEdges {
  /** @throws ERR_TOPOLOGY when there are more than a topology may have */
  add(from: number, to: number): void
  /** Returns every rank's destinations, ascending. */
  toRows(): CompressedRows
}

/** Returns an empty set of edges between ranks 0 to `ranks - 1`. */
export function distinctEdges(ranks: number): DistinctEdges {
  return ranks * ranks <= mostBits ? new MarkedEdges(ranks) : new ListedEdges(ranks)
}

class MarkedEdges implements DistinctEdges {
  readonly #ranks: number
  readonly #words: number
  readonly #bits: Int32Array

  constructor(ranks: number) {
    this.#ranks = ranks
    this.#words = (ranks + 31) >> 5
    this.#bits = new Int32Array(ranks * this.#words)
  }

  add(from: number, to: number): void {
    this.#bits[from * this.#words + (to >> 5)] |= 1 << (to & 31)
  }

  toRows(): CompressedRows {
    const start = new Int32Array(this.#ranks + 1)
    let rank = new Int32Array(firstCapacity)
    let size = 0
    for (let from = 0; from < this.#ranks; from++) {
      if (size + this.#ranks > rank.length) rank = grown(rank, 2 * rank.length + this.#ranks)
      for (let w = 0; w < this.#words; w++) {
        for (let word = this.#bits[from * this.#words + w]; word !== 0; word &= word - 1)
          rank[size++] = 32 * w + 31 - Math.clz32(word & -word)
      }
      start[from + 1] = size
    }
    return { start, rank: rank.slice(0, size) }
  }
}

class ListedEdges implements DistinctEdges {
  readonly #ranks: number
  #from = new Int32Array(firstCapacity)
  #to = new Int32Array(firstCapacity)
  #size = 0

  constructor(ranks: number) {
    this.#ranks = ranks
  }

  add(from: number, to: number): void {
    if (this.#size === this.#from.length) this.#makeRoom()
    this.#from[this.#size] = from
    this.#to[this.#size++] = to
  }

  /**
   * Makes room for more edges. Removing repetitions takes time linear in the list, so the capacity doubles unless most
   * entries were repetitions.
   */
  #makeRoom(): void {
    const { start, rank } = this.toRows()
    const capacity = this.#from.length
    checkTopologySize('topology', this.#ranks, rank.length)
    this.#size = rank.length
    if (rank.length > capacity / 2) {
      this.#from = new Int32Array(Math.min(2 * capacity, 2 * topologyLimits.edges))
      this.#to = new Int32Array(this.#from.length)
    }
    for (let r = 0; r < this.#ranks; r++) this.#from.fill(r, start[r], start[r + 1])
    this.#to.set(rank)
  }

  toRows(): CompressedRows {
    const start = rowStarts(this.#ranks, this.#from.subarray(0, this.#size))
    const next = start.slice(0, this.#ranks)
    const rank = new Int32Array(this.#size)
    for (let e = 0; e < this.#size; e++) rank[next[this.#from[e]]++] = this.#to[e]
    let size = 0
    for (let r = 0; r < this.#ranks; r++) {
      const row = rank.subarray(start[r], start[r + 1]).sort()
      start[r] = size
      for (const to of row) if (size === start[r] || rank[size - 1] !== to) rank[size++] = to
    }
    start[this.#ranks] = size
    return { start, rank: rank.slice(0, size) }
  }
}

function grown(array: Int32Array<ArrayBuffer>, capacity: number): Int32Array<ArrayBuffer> {
  const larger = new Int32Array(capacity)
  larger.set(array)
  return larger
}
