import { typeCode } from '../../messages/datatype/elements.js'
import type { CommContext } from '../../messages/process/comm-context.js'
import { RankFailure } from '../collective-call.js'
import type { Exchange } from '../exchange.js'
import { deliverAll, type Layout, placeOf, roomForBlocks } from '../plan/deliver.js'
import { byRank, everyNth, ranksByProcess } from '../plan/placement.js'
import { blocksFor, type SendBlocks } from '../plan/send-blocks.js'
import { type BlockList, ownList } from './block-list.js'
import { type ListPlans, moveLists, relayPlaces } from './move-lists.js'
import type { BlockMemory, PlacesOf } from './piece-store.js'

interface Contribution {
  readonly sendBlocks: SendBlocks
  readonly layout: Layout
}

/**
 * Exchanges blocks of lengths that only their senders know, and completes the collective.
 *
 * @param type wire code of the elements; null for values
 */
export function alltoallLists(
  state: CommContext,
  plans: ListPlans,
  type: number | null,
  all: readonly Contribution[],
  exchange: Exchange,
): void {
  const { me, count } = exchange
  const ranks = ranksByProcess(state)
  const blocks = ranks.map((list) => blocksFor(all, list))
  const own = (pair: number) => blocks[pair % count]
  let results: () => readonly unknown[]
  const meet = (arrived: ReadonlyMap<number, BlockList>): PlacesOf => {
    // The lists are by process; for each of its ranks they hold one block per rank here.
    const lists = ranks.map((_, process) =>
      process === me ? ownList(blocks[me]) : arrived.get(process * count + me)!,
    )
    const rooms = all.map(({ layout }, i) => new AlltoallRoom(state, type, lists, layout, i, all.length))
    results = () => rooms.map((room) => room.result())
    return (pair) => {
      const from = Math.floor(pair / count)
      if (pair % count !== me) return relayPlaces(exchange, arrived.get(pair)!)
      const places: (Uint8Array | null)[] = []
      lists[from].short.forEach((block, index) => {
        if (block !== undefined) return
        const source = ranks[from][Math.floor(index / all.length)]
        places.push(rooms[index % all.length].place(source))
      })
      return places
    }
  }
  moveLists(plans, own, 0, exchange, meet, () => exchange.finish(results()))
}

/** The result of one rank once all lengths are known: long blocks travel straight into it. */
class AlltoallRoom {
  readonly #state: CommContext
  readonly #layout: Layout
  readonly #sizes: readonly number[]
  readonly #blocks: (Uint8Array | undefined)[]
  /** The memory for elements. */
  readonly #room: ReturnType<typeof roomForBlocks> | null

  constructor(
    state: CommContext,
    type: number | null,
    lists: readonly BlockList[],
    layout: Layout,
    localIndex: number,
    here: number,
  ) {
    this.#state = state
    this.#layout = layout
    this.#sizes = byRank(
      state.processes,
      lists.map((list) => everyNth(list.sizes, localIndex, here)),
    )
    this.#blocks = byRank(
      state.processes,
      lists.map((list) => everyNth(list.short, localIndex, here)),
    )
    this.#room = type === null ? null : roomForBlocks(type, this.#sizes, layout)
  }

  place(source: number): BlockMemory[number] {
    const sizeBytes = this.#sizes[source]
    if (this.#room instanceof RankFailure) return null
    if (this.#room !== null) return placeOf(this.#room, source, sizeBytes)
    const bytes = new Uint8Array(sizeBytes)
    this.#blocks[source] = bytes
    return bytes
  }

  result(): unknown {
    const room = this.#room
    if (room instanceof RankFailure) return room
    if (room === null) {
      const blocks = this.#blocks as Uint8Array[]
      return deliverAll(this.#state, typeCode.value, null, blocks, this.#layout.into)
    }
    for (const [rank, block] of this.#blocks.entries()) {
      if (block !== undefined) placeOf(room, rank, block.byteLength).set(block)
    }
    return room
  }
}
