import type { ScheduleBuilder } from '../../schedule/builder.js'
import { rowStarts } from '../../topology/compressed-rows.js'

/** Blocks that move between ranks, one by one: columns of equal length. */
export interface BlockMoves {
  readonly block: Int32Array
  readonly hop: Int32Array
  readonly from: Int32Array
  readonly to: Int32Array
}

/** The moves of every rank in one direction, message by message. */
export interface MovesByMessage {
  readonly start: Int32Array
  readonly order: Int32Array
}

/**
 * Moves by rank, then hop, then peer, beginning with the peer after the rank, so that ranks do not all send to the same one
 * at the same time. The moves of a message remain in order.
 *
 * @param rankOf one end of every move, `peerOf` the other
 */
export function movesByMessage(
  { hop, block }: BlockMoves,
  ranks: number,
  rankOf: Int32Array,
  peerOf: Int32Array,
): MovesByMessage {
  const start = rowStarts(ranks, rankOf)
  const next = start.slice(0, ranks)
  const order = new Int32Array(block.length)
  for (let move = 0; move < block.length; move++) order[next[rankOf[move]]++] = move
  const ahead = (move: number): number => (peerOf[move] - rankOf[move] + ranks) % ranks
  for (let rank = 0; rank < ranks; rank++) {
    order
      .subarray(start[rank], start[rank + 1])
      .sort((a, b) => hop[a] - hop[b] || ahead(a) - ahead(b) || a - b)
  }
  return { start, order }
}

/**
 * Emits one rank's messages in one direction: those of hop h in phase h, with tag h.
 *
 * @param places from which, or to which, the blocks move, by move
 */
export function emitMessages(
  builder: ScheduleBuilder,
  { block, hop, from, to }: BlockMoves,
  { start, order }: MovesByMessage,
  rank: number,
  kind: 'send' | 'receive',
  places: Int32Array,
): void {
  const peerOf = kind === 'send' ? to : from
  let lastHop = -1
  let lastPeer = -1
  for (let i = start[rank]; i < start[rank + 1]; i++) {
    const move = order[i]
    const peer = peerOf[move]
    if (hop[move] !== lastHop || peer !== lastPeer) builder[kind](rank, hop[move], peer, hop[move])
    lastHop = hop[move]
    lastPeer = peer
    builder.add(block[move], places[move])
  }
}
