import { bytesOf, copyBytes } from '../../base/bytes.js'
import { typeCode } from '../../messages/datatype/elements.js'
import type { CommContext } from '../../messages/process/comm-context.js'
import { RankFailure } from '../collective-call.js'
import type { Exchange } from '../exchange.js'
import { deliverAll, deliverBlocks, type Layout, placeOf, roomForBlocks } from '../plan/deliver.js'
import { byRank, ranksByProcess } from '../plan/placement.js'
import { type BlockList, ownList } from './block-list.js'
import { type ListPlans, moveLists, relayPlaces } from './move-lists.js'
import type { PlacesOf } from './piece-store.js'

/**
 * Gathers blocks of lengths that only their senders know, and completes the collective.
 *
 * @param root process that wants them, or null for all
 * @param type wire code of the elements; null for values
 * @param layouts how the ranks here want them, by local index; null for a rank that does not
 */
export function gatherLists(
  state: CommContext,
  plans: ListPlans,
  root: number | null,
  type: number | null,
  mine: readonly Uint8Array[],
  layouts: readonly (Layout | null)[],
  exchange: Exchange,
): void {
  const own = () => mine
  if (root !== null && root !== exchange.me) {
    const relay = (lists: ReadonlyMap<number, BlockList>) => (process: number) =>
      relayPlaces(exchange, lists.get(process)!)
    moveLists(plans, own, 0, exchange, relay, () => exchange.finish(mine.map(() => null)))
    return
  }
  let results: () => readonly unknown[]
  const meet = (arrived: ReadonlyMap<number, BlockList>): PlacesOf => {
    const lists = Array.from({ length: exchange.count }, (_, process) =>
      process === exchange.me ? ownList(mine) : arrived.get(process)!,
    )
    const room = new GatherRoom(state, type, lists, layouts)
    results = () => room.results()
    return (process, isRelayed) => room.places(process, isRelayed)
  }
  moveLists(plans, own, 0, exchange, meet, () => exchange.finish(results()))
}

/**
 * The results of a gather once all lengths are known. Long blocks travel straight into the result of one rank, from
 * which others copy.
 */
class GatherRoom {
  readonly #state: CommContext
  readonly #type: number | null
  readonly #lists: readonly BlockList[]
  readonly #layouts: readonly (Layout | null)[]
  readonly #blocks: (Uint8Array | undefined)[]
  /**
   * The results of elements: that of the first rank that it fits, failures of the ranks before it, and null for those
   * after it.
   */
  readonly #rooms: readonly (Room | null)[]
  readonly #gathered: Exclude<Room, RankFailure> | undefined
  /** The gathered result if its blocks lie side by side in rank order. */
  readonly #packed: Uint8Array | undefined
  readonly #sizes: readonly number[]
  #ranks: number[][] | undefined

  constructor(
    state: CommContext,
    type: number | null,
    lists: readonly BlockList[],
    layouts: readonly (Layout | null)[],
  ) {
    const sizes = byRank(
      state.processes,
      lists.map((list) => list.sizes),
    )
    this.#state = state
    this.#type = type
    this.#lists = lists
    this.#layouts = layouts
    this.#blocks = byRank(
      state.processes,
      lists.map((list) => list.short),
    )
    this.#rooms = type === null ? [] : roomsOf(type, sizes, layouts)
    this.#sizes = sizes
    const first = this.#rooms.findIndex((room) => room !== null && !(room instanceof RankFailure))
    if (first >= 0) {
      this.#gathered = this.#rooms[first] as Exclude<Room, RankFailure>
      const total = sizes.reduce((sum, size) => sum + size, 0)
      if (layouts[first]!.displs === undefined) this.#packed = bytesOf(this.#gathered.data).subarray(0, total)
    }
    this.#blocks.forEach((block, rank) => {
      if (block !== undefined) this.#gatheredAt(rank, block.byteLength)?.set(block)
    })
  }

  places(process: number, isRelayed: boolean): (Uint8Array | null)[] {
    const { sizes, short } = this.#lists[process]
    this.#ranks ??= ranksByProcess(this.#state)
    const ranks = this.#ranks[process]
    const places: (Uint8Array | null)[] = []
    short.forEach((block, index) => {
      if (block !== undefined) return
      const rank = ranks[index]
      const place = this.#gatheredAt(rank, sizes[index])
      const isNeeded = isRelayed || this.#type === null
      const bytes = place ?? (isNeeded ? new Uint8Array(sizes[index]) : null)
      if (bytes !== null) this.#blocks[rank] = bytes
      places.push(bytes)
    })
    return places
  }

  /** Returns the results by local index, when all blocks are there. */
  results(): readonly unknown[] {
    const blocks = this.#blocks as Uint8Array[]
    return this.#layouts.map((layout, localIndex) => {
      if (layout === null) return null
      if (this.#type === null) return deliverAll(this.#state, typeCode.value, null, blocks, layout.into)
      const room = this.#rooms[localIndex]
      if (room !== undefined && room !== null) return room
      if (this.#packed !== undefined && layout.displs === undefined)
        return this.#copyOf(this.#packed, this.#type, layout)
      return deliverBlocks(this.#state, this.#type, blocks, layout)
    })
  }

  #copyOf(packed: Uint8Array, type: number, layout: Layout): Room {
    const room = roomForBlocks(type, this.#sizes, layout)
    if (room instanceof RankFailure) return room
    copyBytes(bytesOf(room.data), 0, packed)
    this.#state.runtime.processCounters.bytesCopied += packed.byteLength
    return room
  }

  #gatheredAt(rank: number, sizeBytes: number): Uint8Array | undefined {
    return this.#gathered === undefined ? undefined : placeOf(this.#gathered, rank, sizeBytes)
  }
}

type Room = ReturnType<typeof roomForBlocks>

function roomsOf(
  type: number,
  sizes: readonly number[],
  layouts: readonly (Layout | null)[],
): readonly (Room | null)[] {
  let hasRoom = false
  return layouts.map((layout) => {
    if (layout === null || hasRoom) return null
    const room = roomForBlocks(type, sizes, layout)
    hasRoom = !(room instanceof RankFailure)
    return room
  })
}
