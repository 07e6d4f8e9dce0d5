import { bytesOf } from '../../../base/bytes.js'
import { splitBlocks } from '../../../base/packing.js'
import { copyOf, type Exchange } from '../exchange.js'
import { alltoallBytes } from '../exchange-patterns.js'
import { byRank, ranksByProcess } from './blocks/placement.js'
import { joined } from './blocks/process-order.js'
import { blocksFor, type SendBlocks } from './blocks/send-blocks.js'
import type { CollectiveContext } from './plan/collective-context.js'
import { moveBlocks, segmentLengths } from './plan/move-blocks.js'
import { type Chosen, planMove } from './plan/planned-move.js'

/** What the ranks here send. */
type Contributions = readonly { readonly sendBlocks: SendBlocks }[]

/** Gets the blocks for a rank here, in rank order of their senders. */
type Done = (blocksOf: (localIndex: number) => readonly Uint8Array[]) => void

/** All-to-all of blocks of one length by a plan: what the ranks here have for those of one process is one block of it. */
export function alltoallEqual(
  state: CollectiveContext,
  chosen: Chosen,
  all: Contributions,
  sizeBytes: number,
  exchange: Exchange,
  done: Done,
): void {
  const ranks = ranksByProcess(state)
  const counts = ranks.map(({ length }) => length)
  const { count } = exchange
  const { segments } = chosen
  const lengths = segmentLengths((pair) => {
    const [from, to] = [Math.floor(pair / count), pair % count]
    return counts[from]! * counts[to]! * sizeBytes
  }, segments)
  const own = ranks.map((list) => joined(blocksFor(all, list)))
  const here = all.length
  const slots = new Uint8Array(state.size * here * sizeBytes)
  const plan = planMove(state, chosen)
  moveBlocks(plan, lengths, [joined(own)], slots, exchange, () => {
    let at = 0
    const received = counts.map((from) => {
      const size = from * here * sizeBytes
      at += size
      return splitBlocks(slots.subarray(at - size, at), from * here, sizeBytes)
    })
    done((localIndex) => inRankOrder(state, received, localIndex, here))
  })
}

/** The same of blocks of any lengths, which processes tell each other first: by every algorithm that relays none. */
export async function alltoallVarying(
  state: CollectiveContext,
  chosen: Chosen,
  all: Contributions,
  exchange: Exchange,
): Promise<(localIndex: number) => readonly Uint8Array[]> {
  const { me, count } = exchange
  const ranks = ranksByProcess(state)
  const blocks = ranks.map((list) => blocksFor(all, list))
  const mine = blocks.map((list) => Float64Array.from(list, ({ byteLength }) => byteLength))
  const lists = await alltoallBytes(exchange, mine.map(bytesOf))
  const sizes = lists.map((bytes) => new Float64Array(copyOf(bytes).buffer))
  const sent = mine.map(sumOf)
  const got = sizes.map(sumOf)
  const lengths = segmentLengths((pair) => {
    const [from, to] = [Math.floor(pair / count), pair % count]
    return from === me ? sent[to]! : got[from]!
  }, chosen.segments)
  const slots = new Uint8Array(sumOf(got))
  const plan = planMove(state, chosen)
  await new Promise<void>((resolve) =>
    moveBlocks(plan, lengths, [joined(blocks.map(joined))], slots, exchange, resolve),
  )
  let at = 0
  const received = sizes.map((list) =>
    Array.from(list, (size) => {
      at += size
      return slots.subarray(at - size, at)
    }),
  )
  return (localIndex) => inRankOrder(state, received, localIndex, all.length)
}

/** @param received by process: for each of its ranks, one block per rank here */
function inRankOrder(
  state: CollectiveContext,
  received: readonly (readonly Uint8Array[])[],
  localIndex: number,
  here: number,
): Uint8Array[] {
  const own = received.map((blocks) => blocks.filter((_, i) => i % here === localIndex))
  return byRank(state.processes, own)
}

function sumOf(sizes: ArrayLike<number>): number {
  let sum = 0
  for (let i = 0; i < sizes.length; i++) sum += sizes[i]!
  return sum
}
