import { bytesOf, copyBytes, overlap } from '../../base/bytes.js'
import { concatenate } from '../../base/packing.js'
import { whenThere } from '../../base/turn.js'
import { type TypedArray, typeCode } from '../../messages/datatype/elements.js'
import type { CommContext } from '../../messages/process/comm-context.js'
import type { Exchange } from '../exchange/exchange.js'
import { RankFailure } from '../matching/collective-call.js'
import type { CollectiveContext, CollectivePlan } from '../plan/collective-plan.js'
import type { Method } from '../plan/method.js'
import { planOf, requireMethod } from '../plan/resolve.js'
import { type BoundProgram, filled, type PlannedCall } from '../program/planned-call.js'
import type { Signature } from '../signature.js'
import {
  type Block,
  deliver,
  deliverAll,
  deliverBlocks,
  type Layout,
  placeOf,
  roomForBlocks,
  SharedLanding,
  type Wanted,
} from '../values/deliver.js'
import { ElementStore, mostRetainedBytes } from '../values/element-store.js'
import {
  blocksInRankOrder,
  byRank,
  isRankOrder,
  joinedBlocks,
  localIndexOf,
  processOfRank,
  ranksByProcess,
  ranksPerProcess,
} from '../values/placement.js'
import {
  type BlockList,
  isLong,
  type ListPlans,
  moveBlocks,
  moveLists,
  movePieces,
  moveShort,
  ownList,
  type PlacesOf,
  planLists,
  relayPlaces,
  segmentLengths,
} from './move-blocks.js'

interface GatherContribution {
  readonly block: Block
  readonly layout: Layout
}

type GatherName = 'gather' | 'gatherv' | 'allgather' | 'allgatherv'

/**
 * Returns one of the four gathers: `root` is null for those with the result on every rank; names ending in v take
 * blocks of varying lengths. Short blocks of the ranks of a process are one block of the schedule. Long ones travel one
 * by one, each from its rank's array straight into a result.
 *
 * @throws ERR_ALGORITHM when the method does not take this number of processes
 */
export function gatherCall(
  state: CollectiveContext,
  name: GatherName,
  root: number | null,
  block: Block,
  method: Method | undefined,
): PlannedCall<GatherContribution> {
  const { type } = block
  const isVarying = name === 'gatherv' || name === 'allgatherv'
  const isEqual = !isVarying && type !== typeCode.value
  const sizeBytes = block.bytes.byteLength
  const collective = root === null ? 'allgather' : 'gather'
  requireMethod(state, method, { isSized: isEqual })
  return {
    signature: signatureOf(name, root, isEqual, block, method),
    run(contributions, exchange) {
      const mine = contributions.map((part) => part.block.bytes)
      const wanting = root === null ? null : localIndexOf(state, root)
      const wants = (localIndex: number) => wanting === null || wanting === localIndex
      if (exchange.count === 1) {
        const flat = isEqual ? concatenate(mine) : null
        return contributions.map(({ layout }, localIndex) => {
          if (!wants(localIndex)) return null
          return isVarying
            ? deliverBlocks(state, type, mine, layout)
            : deliverAll(state, type, flat, mine, layout.into)
        })
      }
      const rootProcess = root === null ? null : processOfRank(state.processes, root)
      if (!isEqual) {
        const layouts = contributions.map(({ layout }, index) => (wants(index) ? layout : null))
        return whenThere(planLists(state, collective, method, rootProcess ?? 0), (plans) =>
          gatherLists(state, plans, rootProcess, isVarying ? type : null, mine, layouts, exchange),
        )
      }
      const wanted = contributions.map(({ layout }, index) => (wants(index) ? layout.into : null))
      const gather = isLong(exchange, sizeBytes) ? gatherLong : gatherShort
      const call = { collective, method, sizeBytes, root: rootProcess ?? 0 } as const
      return whenThere(planOf(state, call, exchange), (plan) =>
        gather(state, plan, rootProcess, type, mine, wanted, exchange),
      )
    },
    bind(contributions) {
      const arrays = contributions.map((each) => ({ send: each.block.bytes, recv: each.layout.into! }))
      return whenThere(planOf(state, { collective, method, sizeBytes }), (plan) =>
        boundAllgather(state, plan, sizeBytes, arrays),
      )
    },
  }
}

function signatureOf(
  name: GatherName,
  root: number | null,
  isEqual: boolean,
  { type, countElems }: Block,
  method: Method | undefined,
): Signature {
  return {
    name,
    type,
    ...(root === null ? {} : { root }),
    ...(isEqual ? { count: countElems } : {}),
    ...(method === undefined ? {} : { method: method.name }),
  }
}

/** Gathers short blocks: those of a process lie side by side as one block of the schedule. */
function gatherShort(
  state: CollectiveContext,
  plan: CollectivePlan,
  root: number | null,
  type: number,
  mine: readonly Uint8Array[],
  wanted: readonly Wanted[],
  exchange: Exchange,
): undefined {
  const { processes, size } = state
  const sizeBytes = mine[0].byteLength
  const ownBytes = mine.length * sizeBytes
  const isWanted = root === null || root === exchange.me
  const isOrdered = isRankOrder(processes)
  let ranks: Int32Array | undefined
  const lengths = segmentLengths((process) => {
    ranks ??= ranksPerProcess(processes)
    return ranks[process] * sizeBytes
  }, plan.segments)
  const fill = (own: Uint8Array) => {
    for (let i = 0; i < mine.length; i++) own.set(mine[i], i * sizeBytes)
  }
  if (isWanted && isOrdered && size * sizeBytes > mostRetainedBytes) {
    const landing = new SharedLanding(state, type, size * sizeBytes, wanted)
    const start = state.localRanks[0] * sizeBytes
    const own = landing.bytes.subarray(start, start + ownBytes)
    fill(own)
    moveBlocks(plan, lengths, [own], landing.bytes, exchange, () => exchange.finish(landing.results()))
    return
  }
  moveShort(plan, sizeBytes, lengths, ownBytes, fill, exchange, (slots) => {
    const flat = isWanted && !isOrdered ? inRankOrder(state, slots, sizeBytes) : slots
    const results: unknown[] = new Array(wanted.length)
    for (let i = 0; i < wanted.length; i++) {
      const into = wanted[i]
      results[i] = into === null ? null : deliver(state, type, flat, into)
    }
    exchange.finish(results)
  })
}

function inRankOrder(state: CollectiveContext, slots: Uint8Array, sizeBytes: number): Uint8Array {
  return joinedBlocks(blocksInRankOrder(state, slots, new Float64Array(state.size).fill(sizeBytes)))
}

/** Gathers long blocks, which are copied only into the result. */
function gatherLong(
  state: CollectiveContext,
  plan: CollectivePlan,
  root: number | null,
  type: number,
  mine: readonly Uint8Array[],
  wanted: readonly Wanted[],
  exchange: Exchange,
): undefined {
  const sizeBytes = mine[0].byteLength
  const isWanted = root === null || root === exchange.me
  const landing = isWanted ? new SharedLanding(state, type, state.size * sizeBytes, wanted) : null
  const place = (rank: number) =>
    landing === null ? null : landing.bytes.subarray(rank * sizeBytes, (rank + 1) * sizeBytes)
  for (let i = 0; i < mine.length; i++) place(state.localRanks[i])?.set(mine[i])
  let ranks: number[][] | undefined
  const placesOf = (process: number, isRelayed: boolean) => {
    ranks ??= ranksByProcess(state)
    return ranks[process].map((rank) => place(rank) ?? (isRelayed ? new Uint8Array(sizeBytes) : null))
  }
  movePieces(
    plan,
    () => mine,
    exchange,
    placesOf,
    () => exchange.finish(landing === null ? mine.map(() => null) : landing.results()),
  )
}

interface BoundArrays {
  readonly send: Uint8Array
  readonly recv: TypedArray
}

/** Binds an allgather of blocks of `sizeBytes` that starts from its buffers and lands in one of them. */
function boundAllgather(
  state: CollectiveContext,
  plan: CollectivePlan,
  sizeBytes: number,
  arrays: readonly BoundArrays[],
): BoundProgram {
  const { processes, size } = state
  const ranks = ranksPerProcess(processes)
  const lengths = segmentLengths((process) => ranks[process] * sizeBytes, plan.segments)
  const [{ send }] = arrays
  const results = arrays.map(({ recv }) => bytesOf(recv).subarray(0, sizeBytes * size))
  const [result] = results
  const slots = isRankOrder(processes) ? result : new Uint8Array(result.byteLength)
  // A single rank here may have its block already in its place in the result.
  const isThere = slots === result && isOwnSlot(state.localRanks[0], send, result)
  const isSent = arrays.length === 1 && (isThere || !overlap(send, result))
  const own = isSent ? send : new Uint8Array(arrays.length * sizeBytes)
  const store = new ElementStore(plan.program, plan.memory(), typeCode.Uint8Array, lengths, undefined)
  const sizes = new Float64Array(size).fill(sizeBytes)
  return {
    plan,
    store,
    fill() {
      if (!isSent) for (let i = 0; i < arrays.length; i++) own.set(arrays[i].send, i * sizeBytes)
      store.bind([own], slots)
    },
    deliver() {
      store.finish()
      if (slots !== result) {
        blocksInRankOrder(state, slots, sizes).forEach((block, rank) => {
          result.set(block, rank * sizeBytes)
        })
      }
      for (let i = 1; i < results.length; i++) results[i].set(result)
      return filled
    },
  }
}

function isOwnSlot(rank: number, send: Uint8Array, recv: Uint8Array): boolean {
  return send.buffer === recv.buffer && send.byteOffset === recv.byteOffset + rank * send.byteLength
}

/**
 * Gathers blocks of lengths that only their senders know, and completes the collective.
 *
 * @param root process that wants them, or null for all
 * @param type wire code of the elements; null for values
 * @param layouts how the ranks here want them, by local index; null for a rank that does not
 */
function gatherLists(
  state: CommContext,
  plans: ListPlans,
  root: number | null,
  type: number | null,
  mine: readonly Uint8Array[],
  layouts: readonly (Layout | null)[],
  exchange: Exchange,
): undefined {
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
