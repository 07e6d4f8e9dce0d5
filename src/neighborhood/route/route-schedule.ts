import { NeighborScheduleBuilder, type ScheduleBuilder } from '../../schedule/builder.js'
import type { NeighborSchedule, Parameters } from '../../schedule/ir.js'
import { rowStarts } from '../../topology/compressed-rows.js'
import { distinctOut } from '../../topology/neighbors.js'
import type { ProcessTopology } from '../../topology/process-topology.js'
import { deliveryTrees, type Moves } from './delivery-trees.js'
import { ownPlace, ReceiveSlots } from './receive-slots.js'
import type { Route } from './route.js'

/** Who made a schedule, for readers and exports. */
export interface RouteHeader {
  readonly strategy: string
  readonly parameters: Parameters
}

/**
 * A neighbor allgather by a route: in phase h a rank sends one message to every rank to which the ways of some blocks go
 * from it in hop h, with each of these blocks once, by ascending source. A rank starts with the peer after itself, so that
 * ranks do not all send to the same one at the same time.
 */
export function routeSchedule(
  topology: ProcessTopology,
  route: Route,
  header: RouteHeader,
): NeighborSchedule {
  const { ranks } = topology
  const builder = new NeighborScheduleBuilder({ topology, ...header })
  const moves = deliveryTrees(route, distinctOut(topology), ranks)
  const sends = movesByMessage(moves, ranks, moves.from, moves.to)
  const receives = movesByMessage(moves, ranks, moves.to, moves.from)
  const slots = new ReceiveSlots(builder, topology)
  /** Where every move leaves its block. */
  const places = new Int32Array(moves.block.length)
  for (let rank = 0; rank < ranks; rank++) {
    slots.enter(rank)
    for (let i = receives.start[rank]; i < receives.start[rank + 1]; i++) {
      const move = receives.order[i]
      const block = moves.block[move]
      places[move] = slots.isSource(block) ? slots.placeOf(block) : builder.stage(rank)
    }
  }
  for (let rank = 0; rank < ranks; rank++) {
    slots.enter(rank)
    emit(builder, moves, sends, rank, 'send', places)
    emit(builder, moves, receives, rank, 'receive', places)
    slots.copyRest(Math.max(0, route.hops - 1))
  }
  return builder.build()
}

/** The moves of every rank, message by message. */
interface MovesByMessage {
  readonly start: Int32Array
  readonly order: Int32Array
}

/** By rank, then hop, then peer, beginning with the peer after the rank; the blocks of a message ascend. */
function movesByMessage(
  { hop, block }: Moves,
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

function emit(
  builder: ScheduleBuilder,
  { block, hop, from, to, before }: Moves,
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
    if (kind === 'receive') builder.add(block[move], places[move])
    else builder.add(block[move], before[move] === -1 ? ownPlace : places[before[move]])
  }
}
