import { GrowingInt32Array } from '../../base/growing-array.js'
import { NeighborScheduleBuilder } from '../../schedule/builder.js'
import type { NeighborSchedule, Parameters } from '../../schedule/ir.js'
import { distinctOut, pairEdges } from '../../topology/neighbors.js'
import type { ProcessTopology } from '../../topology/process-topology.js'
import {
  type BlockMoves,
  deliveryTrees,
  emitMessages,
  emitPhases,
  type Moves,
  movesByMessage,
} from './delivery-trees.js'
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

/**
 * Plans a neighbor alltoall by a route. The block of every edge goes its way alone. In phase h a rank sends one message
 * to every rank to which blocks go from it in hop h, in the order of their edges. Parallel edges go the same way. Self
 * loops are copies. Time and memory are proportional to edges times hops.
 */
export function alltoallSchedule(
  topology: ProcessTopology,
  route: Route,
  header: RouteHeader,
): NeighborSchedule {
  const { ranks, outStart, outRank, inStart } = topology
  const builder = new NeighborScheduleBuilder({ topology, collective: 'neighbor-alltoall', ...header })
  const arrival = pairEdges(topology)
  const { moves, before } = edgeMoves(topology, route)
  const sends = movesByMessage(moves, ranks, moves.from, moves.to)
  const receives = movesByMessage(moves, ranks, moves.to, moves.from)
  const { block, from, to } = moves
  const reads = new Int32Array(block.length)
  const writes = new Int32Array(block.length)
  for (let move = 0; move < block.length; move++) {
    const edge = block[move]
    const [source, rank] = [from[move], to[move]]
    reads[move] = before[move] === -1 ? edge - outStart[source] : writes[before[move]]
    const isThere = rank === outRank[edge]
    writes[move] = isThere ? builder.slot(rank, arrival[edge] - inStart[rank]) : builder.stage(rank)
  }
  for (let rank = 0; rank < ranks; rank++) {
    emitMessages(builder, moves, sends, rank, 'send', reads)
    emitMessages(builder, moves, receives, rank, 'receive', writes)
    copySelfLoops(builder, topology, arrival, rank, Math.max(0, route.hops - 1))
  }
  return builder.build()
}

function copySelfLoops(
  builder: NeighborScheduleBuilder,
  { outStart, outRank, inStart }: ProcessTopology,
  arrival: Int32Array,
  rank: number,
  phase: number,
): void {
  let isOpen = false
  for (let edge = outStart[rank]; edge < outStart[rank + 1]; edge++) {
    if (outRank[edge] !== rank) continue
    if (!isOpen) builder.copy(rank, phase)
    isOpen = true
    builder.add(edge, edge - outStart[rank], builder.slot(rank, arrival[edge] - inStart[rank]))
  }
}

/** The moves of the blocks of all edges, by edge, then hop. */
interface EdgeMoves {
  readonly moves: BlockMoves
  /** The move that brought the block to `from`; -1 if that is its source. */
  readonly before: Int32Array
}

function edgeMoves({ ranks, outStart, outRank }: ProcessTopology, route: Route): EdgeMoves {
  const { hops } = route
  const [block, hop, from, to, before] = Array.from({ length: 5 }, () => new GrowingInt32Array(1024))
  /** The way of an edge: the ranks that hold its block, and the hop since which each does. */
  const way = new Int32Array(hops + 1)
  const since = new Int32Array(hops + 1)
  for (let source = 0; source < ranks; source++) {
    for (let edge = outStart[source]; edge < outStart[source + 1]; edge++) {
      const destination = outRank[edge]
      if (destination === source) continue
      let length = 0
      way[0] = source
      for (let h = 0; h < hops; h++) {
        const next = route.hop(h, source, destination)
        // A way that comes back to a rank has rested there.
        const visited = way.subarray(0, length + 1).indexOf(next)
        length = visited >= 0 ? visited : length + 1
        if (visited >= 0) continue
        way[length] = next
        since[length] = h
      }
      for (let i = 1; i <= length; i++) {
        before.push(i === 1 ? -1 : block.length - 1)
        block.push(edge)
        hop.push(since[i])
        from.push(way[i - 1])
        to.push(way[i])
      }
    }
  }
  return {
    moves: { block: block.toArray(), hop: hop.toArray(), from: from.toArray(), to: to.toArray() },
    before: before.toArray(),
  }
}
