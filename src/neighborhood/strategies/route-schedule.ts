import { NeighborScheduleBuilder } from '../../schedule/builder.js'
import type { NeighborSchedule, Parameters } from '../../schedule/ir.js'
import { distinctOut } from '../../topology/neighbors.js'
import type { ProcessTopology } from '../../topology/process-topology.js'
import { deliveryTrees, type Moves } from './delivery-trees.js'
import { emitPhases, movesByMessage } from './moves-by-message.js'
import { ownPlace, ReceiveSlots } from './receive-slots.js'
import type { Route } from './strategy-kind.js'

/** The maker of a schedule, for readers and exports. */
export interface RouteHeader {
  readonly strategy: string
  readonly parameters: Parameters
}

/**
 * Plans a neighbor allgather by a route. In phase h a rank sends one message to every rank to which the ways of some
 * blocks go from it in hop h. The message has each of these blocks once, by ascending source.
 */
export function routeSchedule(
  topology: ProcessTopology,
  route: Route,
  header: RouteHeader,
): NeighborSchedule {
  const moves = deliveryTrees(route, distinctOut(topology), topology.ranks)
  return scheduleOfMoves(topology, moves, route.hops, header)
}

/**
 * Builds the schedule of moves, which are ordered by block, then hop, then the rank that gets it.
 *
 * @param emitted the ranks whose operations are emitted, ascending; all moves from and to them are given. Default: all
 */
export function scheduleOfMoves(
  topology: ProcessTopology,
  moves: Moves,
  hops: number,
  header: RouteHeader & { readonly phases?: number },
  emitted?: Int32Array,
): NeighborSchedule {
  const { ranks } = topology
  const builder = new NeighborScheduleBuilder({ topology, ...header })
  const sends = movesByMessage(moves, ranks, moves.from, moves.to)
  const receives = movesByMessage(moves, ranks, moves.to, moves.from)
  const slots = new ReceiveSlots(builder, topology)
  /** The place where every move leaves its block. */
  const places = new Int32Array(moves.block.length)
  for (const rank of emitted ?? Array(ranks).keys()) {
    slots.enter(rank)
    for (let i = receives.start[rank]; i < receives.start[rank + 1]; i++) {
      const move = receives.order[i]
      const block = moves.block[move]
      places[move] = slots.isSource(block) ? slots.placeOf(block) : builder.stage(rank)
    }
  }
  const { before } = moves
  const reads = before.map((move) => (move === -1 ? ownPlace : places[move]))
  for (const rank of emitted ?? Array(ranks).keys()) {
    slots.enter(rank)
    emitPhases(builder, moves, { sends, receives }, rank, { reads, writes: places })
    slots.copyRest(Math.max(0, hops - 1))
  }
  return builder.build()
}
