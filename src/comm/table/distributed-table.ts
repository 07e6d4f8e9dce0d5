import { indexIn } from '../../base/search.js'
import { AddressCache } from './address-cache.js'
import { mostPrefetched, PrefetchedRows } from './prefetched-rows.js'
import type { LocalRankTable, RankTable } from './rank-table.js'
import type { SliceBounds } from './slice-bounds.js'
import type { HostedSlice, SliceService, TableId } from './slice-service.js'

/** The places of the slices of a split's table, as one of its processes sees them. */
export interface SlicePlaces {
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
