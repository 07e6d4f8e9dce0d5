import { typeCode } from '../../datatype/elements.js'
import type { CommContext } from '../../table/comm-context.js'
import { RankFailure } from '../collective-call.js'
import type { Exchange } from '../exchange.js'
import { type BlockList, sendBlockList, takeBlockList, takeLongBlocks } from './blocks/block-list.js'
import { deliverAll, type Layout, placeOf, roomForBlocks } from './blocks/deliver.js'
import { byRank, everyNth, ranksByProcess } from './blocks/placement.js'
import { blocksFor, type SendBlocks } from './blocks/send-blocks.js'

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
  type: number | null,
  all: readonly Contribution[],
  exchange: Exchange,
): void {
  const { me, count } = exchange
  const ranks = ranksByProcess(state)
  for (let distance = 1; distance < count; distance++) {
    const peer = (me + distance) % count
    sendBlockList(exchange, peer, blocksFor(all, ranks[peer]!))
  }
  const own = blocksFor(all, ranks[me]!)
  // By process: for each of its ranks, one block per rank here.
  const lists: BlockList[] = []
  lists[me] = { tag: 0, sizes: own.map((block) => block.byteLength), short: own }
  let missing = count - 1
  for (let peer = 0; peer < count; peer++) {
    if (peer === me) continue
    takeBlockList(exchange, peer, (list) => {
      lists[peer] = list
      if (--missing === 0) takeBlocks(state, type, all, lists, exchange)
    })
  }
}

/** All lengths are known: long blocks go straight into the results. */
function takeBlocks(
  state: CommContext,
  type: number | null,
  all: readonly Contribution[],
  lists: readonly BlockList[],
  exchange: Exchange,
): void {
  const { processes } = state
  const here = all.length
  const results = all.map(({ layout }, localIndex) => {
    const sizes = byRank(
      processes,
      lists.map((list) => everyNth(list.sizes, localIndex, here)),
    )
    const blocks = byRank(
      processes,
      lists.map((list) => everyNth(list.short, localIndex, here)),
    )
    const room = type === null ? null : roomForBlocks(type, sizes, layout)
    return { sizes, blocks, room, into: layout.into }
  })
  const finish = () =>
    exchange.finish(
      results.map(({ blocks, room, into }) => {
        if (room === null) return deliverAll(state, typeCode.value, null, blocks as Uint8Array[], into)
        if (room instanceof RankFailure) return room
        for (const [rank, block] of blocks.entries()) {
          if (block !== undefined) placeOf(room, rank, block.byteLength).set(block)
        }
        return room
      }),
    )
  let missing = lists.reduce((sum, list) => sum + list.short.filter((block) => block === undefined).length, 0)
  if (missing === 0) finish()
  const ranks = ranksByProcess(state)
  lists.forEach((list, peer) => {
    const roomFor = (index: number) => {
      const { sizes, blocks, room } = results[index % here]!
      const source = ranks[peer]![Math.floor(index / here)]!
      if (room instanceof RankFailure) return null
      if (room !== null) return placeOf(room, source, sizes[source]!)
      const bytes = new Uint8Array(sizes[source]!)
      blocks[source] = bytes
      return bytes
    }
    takeLongBlocks(exchange, peer, list, roomFor, () => {
      if (--missing === 0) finish()
    })
  })
}
