import { GrowingInt32Array } from '../../base/growing-array.js'
import type { ScheduleBuilder } from '../../schedule/builder.js'
import { entriesByRow, rowStarts } from '../../topology/compressed-rows.js'
import type { NeighborSets } from '../../topology/neighbors.js'
import type { Route } from './strategy-kind.js'

/**
 * Moves of blocks between ranks. The moves of a block form a tree from its source: a rank gets a block at most once, in
 * the first hop in which it is on a way. It does so only if it is a destination or passes the block on. Moves are
 * ordered by block, then as the block moves. Columns of equal length.
 */
export interface Moves {
  readonly block: Int32Array
  readonly hop: Int32Array
  readonly from: Int32Array
  readonly to: Int32Array
  /** The move that brought the block to `from`; -1 if that is the source. */
  readonly before: Int32Array
}

/**
 * Computes the moves of all blocks to the destinations of their sources, by a route. Time: destinations times hops;
 * memory: 20 bytes per move.
 *
 * @param destinations distinct, without the source itself
 */
export function deliveryTrees(route: Route, destinations: NeighborSets, ranks: number): Moves {
  const { hops } = route
  const [blocks, hopOf, froms, tos, befores] = Array.from({ length: 5 }, () => new GrowingInt32Array(1024))
  /**
   * For the entered source, the hop in which a rank gets its block and the sender, valid if `seenBy` names the source.
   */
  const seenBy = new Int32Array(ranks).fill(-1)
  const arrival = new Int32Array(ranks)
  const parent = new Int32Array(ranks)
  const isNeededBy = new Int32Array(ranks).fill(-1)
  /** The end of every hop among the ranks that need the block, by hop, then rank. */
  const end = new Int32Array(hops + 1)
  const needed = new Float64Array(ranks)
  const found = new Int32Array(ranks)
  let at = new Int32Array(64)
  const moveTo = new Int32Array(ranks)

  for (let source = 0; source < ranks; source++) {
    const [from, to] = [destinations.start[source], destinations.start[source + 1]]
    if (from === to) continue
    if (at.length < to - from) at = new Int32Array(2 * (to - from))
    at.fill(source, 0, to - from)
    seenBy[source] = source
    for (let h = 0; h < hops; h++) {
      for (let d = from; d < to; d++) {
        const next = route.hop(h, source, destinations.rank[d])
        if (seenBy[next] !== source) {
          seenBy[next] = source
          arrival[next] = h
          parent[next] = at[d - from]
        }
        at[d - from] = next
      }
    }
    let count = 0
    end.fill(0)
    isNeededBy[source] = source
    for (let d = from; d < to; d++) {
      for (let rank = destinations.rank[d]; isNeededBy[rank] !== source; rank = parent[rank]) {
        isNeededBy[rank] = source
        found[count++] = rank
        end[arrival[rank] + 1]++
      }
    }
    for (let h = 0; h < hops; h++) end[h + 1] += end[h]
    for (let i = 0; i < count; i++) needed[end[arrival[found[i]]]++] = found[i]
    for (let h = 0; h < hops; h++) sortNumbers(needed, h === 0 ? 0 : end[h - 1], end[h])
    moveTo[source] = -1
    for (let i = 0; i < count; i++) {
      const rank = needed[i]
      moveTo[rank] = blocks.length
      blocks.push(source)
      hopOf.push(arrival[rank])
      froms.push(parent[rank])
      tos.push(rank)
      befores.push(moveTo[parent[rank]])
    }
  }
  return {
    block: blocks.view(),
    hop: hopOf.view(),
    from: froms.view(),
    to: tos.view(),
    before: befores.view(),
  }
}

/** Insertion sort is faster than a call of the built-in sort for so many numbers, or fewer. */
const short = 64

/** Sorts a part of an array, ascending. */
function sortNumbers(numbers: Float64Array, from: number, end: number): void {
  if (end - from > short) {
    numbers.subarray(from, end).sort()
    return
  }
  for (let i = from + 1; i < end; i++) {
    const number = numbers[i]
    let at = i
    for (; at > from && numbers[at - 1] > number; at--) numbers[at] = numbers[at - 1]
    numbers[at] = number
  }
}

/** Computes `number % divisor`, several times as fast for numbers beyond 32 bits. Both are integers >= 0. */
function remainder(number: number, divisor: number): number {
  return number - Math.floor(number / divisor) * divisor
}

/** Blocks that move between ranks, one by one: columns of equal length. */
export interface BlockMoves {
  readonly block: Int32Array
  readonly hop: Int32Array
  readonly from: Int32Array
  readonly to: Int32Array
}

/** The moves of every rank in one direction, message by message. */
interface MovesByMessage {
  readonly start: Int32Array
  readonly order: Int32Array
}

/**
 * Orders moves by rank, then hop, then peer, beginning with the peer after the rank. So ranks do not all send to the
 * same one at the same time. The moves of a message remain in order.
 *
 * @param rankOf one end of every move; `peerOf` is the other
 */
export function movesByMessage(
  { hop }: BlockMoves,
  ranks: number,
  rankOf: Int32Array,
  peerOf: Int32Array,
): MovesByMessage {
  const start = rowStarts(ranks, rankOf)
  const order = entriesByRow(start, rankOf)
  let keys = new Float64Array(64)
  let sorted = new Int32Array(64)
  for (let rank = 0; rank < ranks; rank++) {
    const first = start[rank]
    const count = start[rank + 1] - first
    if (keys.length < count) [keys, sorted] = [new Float64Array(2 * count), new Int32Array(2 * count)]
    for (let i = 0; i < count; i++) {
      const move = order[first + i]
      const ahead = peerOf[move] - rank
      // The place in the list is part of the key. So equal messages keep their order, and numbers sort without a
      // comparison function.
      keys[i] = (hop[move] * ranks + (ahead < 0 ? ahead + ranks : ahead)) * count + i
      sorted[i] = move
    }
    sortNumbers(keys, 0, count)
    for (let i = 0; i < count; i++) order[first + i] = sorted[remainder(keys[i], count)]
  }
  return { start, order }
}

/**
 * Emits one rank's messages phase by phase, those of hop h in phase h. This is the order of a schedule, which need not
 * be sorted then.
 *
 * @param reads the place from which a move takes its block; `writes` is the place where the move leaves the block
 */
export function emitPhases(
  builder: ScheduleBuilder,
  moves: BlockMoves,
  { sends, receives }: { readonly sends: MovesByMessage; readonly receives: MovesByMessage },
  rank: number,
  { reads, writes }: { readonly reads: Int32Array; readonly writes: Int32Array },
): void {
  const { hop } = moves
  let send = sends.start[rank]
  let receive = receives.start[rank]
  const [sendEnd, receiveEnd] = [sends.start[rank + 1], receives.start[rank + 1]]
  while (send < sendEnd || receive < receiveEnd) {
    const sendHop = send < sendEnd ? hop[sends.order[send]] : Number.POSITIVE_INFINITY
    const receiveHop = receive < receiveEnd ? hop[receives.order[receive]] : Number.POSITIVE_INFINITY
    if (sendHop <= receiveHop) send = emitHop(builder, moves, sends, rank, 'send', reads, send)
    else receive = emitHop(builder, moves, receives, rank, 'receive', writes, receive)
  }
}

/** Emits the messages of one hop, from a position on, and returns the position after them. */
function emitHop(
  builder: ScheduleBuilder,
  { block, hop, from, to }: BlockMoves,
  { start, order }: MovesByMessage,
  rank: number,
  kind: 'send' | 'receive',
  places: Int32Array,
  position: number,
): number {
  const peerOf = kind === 'send' ? to : from
  const phase = hop[order[position]]
  let lastPeer = -1
  let i = position
  for (; i < start[rank + 1]; i++) {
    const move = order[i]
    if (hop[move] !== phase) break
    const peer = peerOf[move]
    if (peer !== lastPeer) builder[kind](rank, phase, peer, phase)
    lastPeer = peer
    builder.add(block[move], places[move])
  }
  return i
}

/**
 * Emits one rank's messages in one direction: those of hop h in phase h, with tag h.
 *
 * @param places from which, or to which, the blocks move, by move
 */
export function emitMessages(
  builder: ScheduleBuilder,
  moves: BlockMoves,
  messages: MovesByMessage,
  rank: number,
  kind: 'send' | 'receive',
  places: Int32Array,
): void {
  const end = messages.start[rank + 1]
  for (let at = messages.start[rank]; at < end; ) {
    at = emitHop(builder, moves, messages, rank, kind, places, at)
  }
}
