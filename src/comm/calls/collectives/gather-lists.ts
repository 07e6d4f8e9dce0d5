import { typeCode } from '../../datatype/elements.js'
import type { CommContext } from '../../table/comm-context.js'
import { RankFailure } from '../collective-call.js'
import type { Exchange } from '../exchange.js'
import { allgatherThen } from '../exchange-patterns.js'
import {
  type BlockList,
  headOf,
  listIn,
  listStep,
  sendBlockList,
  sendLongBlocks,
  takeBlockList,
  takeLongBlocks,
} from './blocks/block-list.js'
import { deliverAll, deliverBlocks, type Layout, placeOf, roomForBlocks } from './blocks/deliver.js'
import { byRank, ranksByProcess } from './blocks/placement.js'

/**
 * Gathers blocks of lengths that only their senders know. Completes the collective.
 *
 * @param root process that wants them, or null for all
 * @param type wire code of the elements; null for values
 * @param layouts how the ranks here want them, by local index; null for a rank that does not
 */
export function gatherLists(
  state: CommContext,
  root: number | null,
  type: number | null,
  mine: readonly Uint8Array[],
  layouts: readonly (Layout | null)[],
  exchange: Exchange,
): void {
  const { me, count } = exchange
  const own: BlockList = { tag: 0, sizes: mine.map((block) => block.byteLength), short: mine }
  if (root === null) {
    for (let distance = 1; distance < count; distance++) {
      sendLongBlocks(exchange, (me + distance) % count, mine)
    }
    allgatherThen(exchange, headOf(exchange, mine), listStep.head, (heads) => {
      const lists = heads.map((head, process) => (process === me ? own : listIn(head)))
      takeBlocks(state, type, lists, layouts, exchange)
    })
    return
  }
  if (me !== root) {
    sendBlockList(exchange, root, mine)
    exchange.finish(mine.map(() => null))
    return
  }
  const lists: BlockList[] = []
  lists[me] = own
  let missing = count - 1
  for (let peer = 0; peer < count; peer++) {
    if (peer === me) continue
    takeBlockList(exchange, peer, (list) => {
      lists[peer] = list
      if (--missing === 0) takeBlocks(state, type, lists, layouts, exchange)
    })
  }
}

/** All lengths are known: long blocks go straight into the result of one rank, from which others copy. */
function takeBlocks(
  state: CommContext,
  type: number | null,
  lists: readonly BlockList[],
  layouts: readonly (Layout | null)[],
  exchange: Exchange,
): void {
  const { processes } = state
  const sizes = byRank(
    processes,
    lists.map((list) => list.sizes),
  )
  const blocks = byRank(
    processes,
    lists.map((list) => list.short),
  )
  const rooms = type === null ? [] : roomsOf(type, sizes, layouts)
  const first = rooms.findIndex((room) => room !== null && !(room instanceof RankFailure))
  const gathered = first < 0 ? null : (rooms[first] as Exclude<(typeof rooms)[number], RankFailure | null>)
  const room = (rank: number): Uint8Array | null => {
    const sizeBytes = sizes[rank]!
    if (type === null) return new Uint8Array(sizeBytes)
    return gathered === null ? null : placeOf(gathered, rank, sizeBytes)
  }
  const results = () =>
    layouts.map((layout, localIndex) => {
      if (layout === null) return null
      if (type === null) return deliverAll(state, typeCode.value, null, blocks as Uint8Array[], layout.into)
      return rooms[localIndex] ?? deliverBlocks(state, type, blocks as Uint8Array[], layout)
    })

  let missing = blocks.reduce((sum, block) => (block === undefined ? sum + 1 : sum), 0)
  if (gathered !== null) {
    blocks.forEach((block, rank) => {
      if (block !== undefined) placeOf(gathered, rank, block.byteLength).set(block)
    })
  }
  if (missing === 0) {
    exchange.finish(results())
    return
  }
  const ranks = ranksByProcess(state)
  lists.forEach((list, peer) => {
    const roomFor = (index: number) => {
      const rank = ranks[peer]![index]!
      const place = room(rank)
      if (place !== null) blocks[rank] = place
      return place
    }
    takeLongBlocks(exchange, peer, list, roomFor, () => {
      if (--missing === 0) exchange.finish(results())
    })
  })
}

/** Room for the result of the first rank that it fits; failures of ranks before it, and null for those after it. */
function roomsOf(type: number, sizes: readonly number[], layouts: readonly (Layout | null)[]) {
  let hasRoom = false
  return layouts.map((layout) => {
    if (layout === null || hasRoom) return null
    const room = roomForBlocks(type, sizes, layout)
    hasRoom = !(room instanceof RankFailure)
    return room
  })
}
