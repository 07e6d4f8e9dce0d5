import { indexIn } from '../../base/search.js'
import type { LocalRankTable, RankTable } from './rank-table.js'
import type { HostedSlice, SliceBounds, SliceService, TableId } from './slice-service.js'

/** The places of the slices of a split's table, as one of its processes sees them. */
interface SlicePlaces {
  readonly id: TableId
  readonly bounds: SliceBounds
  server(slice: number): number
  /** The bytes retained for {@link server}: the parent's list of processes. */
  readonly serverBytes: number
  /** The world process that counts the processes that still use the table. */
  readonly home: number
  readonly hosted: HostedSlice | undefined
}

/** The cost of this process's look-ups in one table. */
export interface LookupStatistics {
  readonly hits: number
  readonly misses: number
  /** The look-ups answered by the slice hosted here, which need no cache. */
  readonly own: number
  /** The rows requested from other processes, and the messages that took. */
  readonly asked: number
  readonly messages: number
  readonly cached: number
}

/**
 * The table of one split in one process. The communicators that it made here share its slice, its cache, and the
 * look-ups in progress. Reference-counted: the last communicator that is freed here releases it.
 */
export class SharedSlices {
  readonly places: SlicePlaces
  readonly #service: SliceService
  readonly #cache: AddressCache
  readonly #open = new Map<number, Promise<number>>()
  readonly #batches = new Map<number, { positions: number[]; rows: Promise<Int32Array> }>()
  #users = 0
  #isReleased = false
  #asking = 0
  #own = 0
  #asked = 0
  #messages = 0

  constructor(service: SliceService, places: SlicePlaces, cacheRows: number) {
    this.places = places
    this.#service = service
    this.#cache = new AddressCache(cacheRows)
  }

  /** The bytes retained here for all communicators of the split: slice, bounds, servers, cache. */
  get sizeBytes(): number {
    const { hosted, bounds, serverBytes } = this.places
    return (hosted?.worldRanks.byteLength ?? 0) + bounds.sizeBytes + serverBytes + this.#cache.sizeBytes
  }

  get statistics(): LookupStatistics {
    const { hits, misses, size } = this.#cache
    return {
      hits,
      misses,
      own: this.#own,
      asked: this.#asked,
      messages: this.#messages,
      cached: size,
    }
  }

  /** Returns the world rank at a position of the sorted table. */
  find(position: number): number | Promise<number> {
    const here = this.#here(position)
    if (here !== undefined) {
      this.#own++
      return here
    }
    return this.#cache.find(position) ?? this.#open.get(position) ?? this.#ask(position)
  }

  hosts(position: number): boolean {
    return this.#here(position) !== undefined
  }

  /**
   * Returns the world ranks at positions `from` to `from + count - 1`: one request per slice, no entry in the cache.
   */
  async range(from: number, count: number): Promise<Int32Array> {
    const { id, bounds } = this.places
    const worldRanks = new Int32Array(count)
    const parts: Promise<void>[] = []
    this.#asking++
    try {
      for (let at = from; at < from + count; ) {
        const slice = bounds.sliceOf(at)
        const end = Math.min(from + count, bounds.start(slice + 1))
        const first = at
        const put = (rows: Int32Array) => worldRanks.set(rows, first - from)
        const here = this.#hereBetween(first, end)
        if (here !== undefined) put(here)
        else {
          this.#asked += end - first
          this.#messages++
          parts.push(this.#service.getRange(id, this.places.server(slice), first, end - first).then(put))
        }
        at = end
      }
      await Promise.all(parts)
    } finally {
      this.#asking--
      this.#releaseWhenUnused()
    }
    return worldRanks
  }

  /** Returns the world ranks at these positions: one request per server, no entry in the cache. */
  async gather(positions: Int32Array): Promise<Int32Array> {
    const { id, bounds } = this.places
    const worldRanks = new Int32Array(positions.length)
    const remote = new Map<number, number[]>()
    for (let i = 0; i < positions.length; i++) {
      const here = this.#here(positions[i])
      if (here !== undefined) {
        this.#own++
        worldRanks[i] = here
        continue
      }
      const server = this.places.server(bounds.sliceOf(positions[i]))
      const wanted = remote.get(server)
      if (wanted === undefined) remote.set(server, [i])
      else wanted.push(i)
    }
    this.#asking++
    try {
      await Promise.all(
        Array.from(remote, async ([server, wanted]) => {
          this.#asked += wanted.length
          this.#messages++
          const rows = await this.#service.get(
            id,
            server,
            Int32Array.from(wanted, (i) => positions[i]),
          )
          wanted.forEach((i, row) => {
            worldRanks[i] = rows[row]
          })
        }),
      )
    } finally {
      this.#asking--
      this.#releaseWhenUnused()
    }
    return worldRanks
  }

  /** Releases the table if no communicator here retains it. The split calls this once its communicators do. */
  settle(): void {
    this.#releaseWhenUnused()
  }

  retain(): void {
    this.#users++
  }

  release(): void {
    this.#users--
    this.#releaseWhenUnused()
  }

  /**
   * Releases the table when it is unused. Replies of other processes may still be in flight: it is in use until the
   * last one.
   */
  #releaseWhenUnused(): void {
    if (this.#users > 0 || this.#asking > 0 || this.#isReleased) return
    this.#isReleased = true
    this.#service.release(this.places.id, this.places.home)
  }

  #here(position: number): number | undefined {
    const { hosted } = this.places
    return hosted?.worldRanks[position - hosted.start]
  }

  #hereBetween(from: number, to: number): Int32Array | undefined {
    const { hosted } = this.places
    if (hosted === undefined || from < hosted.start || to > hosted.start + hosted.worldRanks.length)
      return undefined
    return hosted.worldRanks.subarray(from - hosted.start, to - hosted.start)
  }

  /** Requests the row at a position. Requests of one turn are sent together, one message per server. */
  #ask(position: number): Promise<number> {
    const { bounds } = this.places
    const server = this.places.server(bounds.sliceOf(position))
    let batch = this.#batches.get(server)
    if (batch === undefined) {
      const positions: number[] = []
      this.#asking++
      batch = { positions, rows: Promise.resolve().then(() => this.#fetch(server, positions)) }
      this.#batches.set(server, batch)
    }
    const index = batch.positions.push(position) - 1
    const found = batch.rows.then((rows) => rows[index])
    this.#open.set(position, found)
    return found
  }

  async #fetch(server: number, positions: readonly number[]): Promise<Int32Array> {
    this.#batches.delete(server)
    this.#asked += positions.length
    this.#messages++
    try {
      const rows = await this.#service.get(this.places.id, server, Int32Array.from(positions))
      for (let i = 0; i < positions.length; i++) this.#cache.keep(positions[i], rows[i])
      return rows
    } finally {
      for (const position of positions) this.#open.delete(position)
      this.#asking--
      this.#releaseWhenUnused()
    }
  }
}

/** A communicator's part of a distributed table: its ranks are `size` rows from position `start`. */
export class DistributedTable implements RankTable {
  readonly kind = 'distributed'
  readonly slices: SharedSlices
  readonly start: number
  readonly size: number
  /** The ranks hosted here, ascending, and their world ranks. Look-ups of them need no message. */
  readonly localRanks: Int32Array
  readonly localWorldRanks: Int32Array
  #prefetched: PrefetchedRows | undefined

  constructor(
    slices: SharedSlices,
    start: number,
    size: number,
    localRanks: Int32Array,
    localWorldRanks: Int32Array,
  ) {
    this.slices = slices
    this.start = start
    this.size = size
    this.localRanks = localRanks
    this.localWorldRanks = localWorldRanks
  }

  /**
   * The bytes for this communicator alone; the slice and the cache are shared, see {@link SharedSlices.sizeBytes}. The
   * ranks hosted here are not counted: every communicator retains them, whatever its table.
   */
  get sizeBytes(): number {
    return this.localWorldRanks.byteLength + (this.#prefetched?.sizeBytes ?? 0)
  }

  lookup(rank: number): number | Promise<number> {
    return this.localWorldRank(rank) ?? this.#prefetched?.find(rank) ?? this.slices.find(this.start + rank)
  }

  /** Returns the world ranks of many ranks: one message per server; nothing is retained. */
  lookupAll(ranks: Int32Array): Promise<Int32Array> {
    return this.slices.gather(ranks.map((rank) => this.start + rank))
  }

  /**
   * Looks up the ranks that a `lookup` would have to request, with one message per server, and retains their addresses
   * as long as the table. Then `lookup` answers at once. At most {@link mostPrefetched}; of more ranks, the first.
   */
  async prefetch(ranks: ArrayLike<number>): Promise<void> {
    const room = mostPrefetched - (this.#prefetched?.size ?? 0)
    const wanted = new Set<number>()
    for (let i = 0; i < ranks.length && wanted.size < room; i++) {
      const rank = ranks[i]
      const isKnown = this.localWorldRank(rank) !== undefined || this.#prefetched?.find(rank) !== undefined
      if (!isKnown && !this.slices.hosts(this.start + rank)) wanted.add(rank)
    }
    if (wanted.size === 0) return
    const missing = Int32Array.from(wanted)
    const worldRanks = await this.lookupAll(missing)
    this.#prefetched ??= new PrefetchedRows()
    this.#prefetched.add(missing, worldRanks)
  }

  /** Returns the world rank of a rank hosted here; undefined for others. */
  localWorldRank(rank: number): number | undefined {
    const index = indexIn(this.localRanks, rank)
    return index < 0 ? undefined : this.localWorldRanks[index]
  }

  /** Returns all world ranks, in rank order: O(size) memory and a message per slice. */
  worldRanks(): Promise<Int32Array> {
    return this.slices.range(this.start, this.size)
  }
}

/** The table of a communicator: all of it here, or distributed over its processes. */
export type CommTable = LocalRankTable | DistributedTable

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
