const none = -1
const leastRows = 8

/**
 * The world ranks looked up last, by position: at most `limit` of them; the least recently used is evicted first. They
 * are in typed arrays, 24 bytes a row, that double until they hold `limit` rows.
 */
export class AddressCache {
  hits = 0
  misses = 0
  readonly #limit: number
  #size = 0
  #rows = 0
  #position = new Int32Array(0)
  #worldRank = new Int32Array(0)
  /** The first row of every chain of rows with the same hash, and the next row of each row's chain. */
  #chain = new Int32Array(0)
  #next = new Int32Array(0)
  /** The rows used before and after each row; the ends of this list. */
  #older = new Int32Array(0)
  #newer = new Int32Array(0)
  #oldest = none
  #newest = none

  constructor(limit: number) {
    this.#limit = limit
  }

  get size(): number {
    return this.#size
  }

  get sizeBytes(): number {
    return 6 * 4 * this.#rows
  }

  find(position: number): number | undefined {
    const row = this.#rowOf(position)
    if (row === none) {
      this.misses++
      return undefined
    }
    this.hits++
    if (row !== this.#newest) {
      this.#unlink(row)
      this.#linkNewest(row)
    }
    return this.#worldRank[row]
  }

  keep(position: number, worldRank: number): void {
    if (this.#limit === 0) return
    let row = this.#rowOf(position)
    if (row !== none) this.#unlink(row)
    else {
      row = this.#freeRow()
      this.#position[row] = position
      this.#chainUp(row)
    }
    this.#worldRank[row] = worldRank
    this.#linkNewest(row)
  }

  #rowOf(position: number): number {
    if (this.#rows === 0) return none
    let row = this.#chain[position % this.#rows]
    while (row !== none && this.#position[row] !== position) row = this.#next[row]
    return row
  }

  #freeRow(): number {
    if (this.#size < this.#limit) {
      if (this.#size === this.#rows) this.#enlarge()
      return this.#size++
    }
    const row = this.#oldest
    this.#unlink(row)
    const slot = this.#position[row] % this.#rows
    let at = this.#chain[slot]
    if (at === row) this.#chain[slot] = this.#next[row]
    else {
      while (this.#next[at] !== row) at = this.#next[at]
      this.#next[at] = this.#next[row]
    }
    return row
  }

  #enlarge(): void {
    this.#rows = Math.min(this.#limit, Math.max(leastRows, 2 * this.#rows))
    this.#position = enlarged(this.#position, this.#rows)
    this.#worldRank = enlarged(this.#worldRank, this.#rows)
    this.#next = enlarged(this.#next, this.#rows)
    this.#older = enlarged(this.#older, this.#rows)
    this.#newer = enlarged(this.#newer, this.#rows)
    this.#chain = new Int32Array(this.#rows).fill(none)
    for (let row = 0; row < this.#size; row++) this.#chainUp(row)
  }

  #chainUp(row: number): void {
    const slot = this.#position[row] % this.#rows
    this.#next[row] = this.#chain[slot]
    this.#chain[slot] = row
  }

  #unlink(row: number): void {
    const older = this.#older[row]
    const newer = this.#newer[row]
    if (older === none) this.#oldest = newer
    else this.#newer[older] = newer
    if (newer === none) this.#newest = older
    else this.#older[newer] = older
  }

  #linkNewest(row: number): void {
    this.#older[row] = this.#newest
    this.#newer[row] = none
    if (this.#newest === none) this.#oldest = row
    else this.#newer[this.#newest] = row
    this.#newest = row
  }
}

function enlarged(items: Int32Array<ArrayBuffer>, length: number): Int32Array<ArrayBuffer> {
  const larger = new Int32Array(length)
  larger.set(items)
  return larger
}
