import { ScheduleBuilder } from '../../schedule/builder.js'
import { type NeighborSchedule, type Schedule, scheduleTag } from '../../schedule/ir.js'
import { neighborAllgatherSpecification, noReductions } from '../../schedule/specification.js'
import type { FriendGroups } from '../../topology/friends/friend-groups.js'
import type { Grouping } from '../../topology/grouping/group-friends.js'
import type { ProcessTopology } from '../../topology/process-topology.js'
import type { Plan } from './plan.js'

/**
 * The plan for some ranks, where no process has the whole topology. Its schedule numbers the ranks that occur in it, in
 * their order. So it takes memory for the neighborhoods of these ranks, not for the topology.
 */
export interface PlanOfRanks {
  /** The number of ranks of the whole topology. */
  readonly ranks: number
  /** The rank of every number, ascending. */
  readonly rankOf: Int32Array
  /** The numbers of the ranks that the plan serves, ascending. */
  readonly own: Int32Array
  /** The schedule, in numbers. Its topology has only the lists of `own`. */
  readonly schedule: NeighborSchedule
  /** The friend groups, in numbers. */
  readonly groups: Grouping | null
  readonly planMs: number
}

/** Converts the plan from numbers to ranks, in O(ranks) memory. */
export function planInRanks(plan: PlanOfRanks): Plan {
  const { ranks, rankOf, own, schedule, groups, planMs } = plan
  const topology = topologyInRanks(ranks, rankOf, schedule.topology)
  const staging = new Int32Array(ranks)
  for (const [number, rank] of rankOf.entries()) staging[rank] = schedule.staging[number]
  return {
    schedule: {
      ...schedule,
      specification: neighborAllgatherSpecification(topology),
      topology,
      staging,
      opStart: startsInRanks(ranks, rankOf, schedule.opStart),
      // A peer of -1 means that there is none.
      opPeer: schedule.opPeer.map((peer) => (peer < 0 ? peer : rankOf[peer])),
      entryBlock: schedule.entryBlock.map((block) => (block < 0 ? block : rankOf[block])),
    },
    groups: groups === null ? null : { ...groups, ...groupsInRanks(ranks, rankOf, groups) },
    planMs,
    ranks: own.map((number) => rankOf[number]),
  }
}

function groupsInRanks(ranks: number, rankOf: Int32Array, groups: FriendGroups): Partial<FriendGroups> {
  return {
    ranks,
    members: groups.members.map((member) => rankOf[member]),
    common: groups.common.map((neighbor) => rankOf[neighbor]),
    directStart: startsInRanks(ranks, rankOf, groups.directStart),
    direct: groups.direct.map((neighbor) => rankOf[neighbor]),
  }
}

function topologyInRanks(ranks: number, rankOf: Int32Array, topology: ProcessTopology): ProcessTopology {
  return {
    ...topology,
    ranks,
    outStart: startsInRanks(ranks, rankOf, topology.outStart),
    outRank: topology.outRank.map((neighbor) => rankOf[neighbor]),
    inStart: startsInRanks(ranks, rankOf, topology.inStart),
    inRank: topology.inRank.map((neighbor) => rankOf[neighbor]),
  }
}

/** Returns starts of the rows of all ranks, from those of numbers; the other rows are empty. */
function startsInRanks(ranks: number, rankOf: Int32Array, starts: Int32Array): Int32Array {
  const all = new Int32Array(ranks + 1)
  for (const [number, rank] of rankOf.entries()) all[rank + 1] = starts[number + 1] - starts[number]
  for (let rank = 0; rank < ranks; rank++) all[rank + 1] += all[rank]
  return all
}

/**
 * Plans a neighbor alltoall with direct sends for the ranks of a plan, in its numbers, where no process has the whole
 * topology. A block is named by its source, its destination and the number among their edges, in this order. A receiver
 * does not know its place in the list of its source.
 */
export function directAlltoallOfRanks({ own, schedule: { topology } }: PlanOfRanks): Schedule {
  const edges = namedEdges(topology)
  const { ranks, outStart, inStart, outRank, inRank } = topology
  const builder = new ScheduleBuilder({
    specification: {
      collective: 'neighbor-alltoall',
      ranks,
      partStart: edges.partStart,
      ownStart: outStart,
      ownBlock: edges.blockOfOut,
      slotStart: inStart,
      slotTerm: edges.blockOfIn,
      reductions: noReductions,
    },
    strategy: 'direct',
    phases: 1,
  })
  for (const rank of own) {
    const sent = byPeer(outRank, outStart[rank], outStart[rank + 1], edges.blockOfOut)
    for (const [peer, places] of sent) {
      if (peer === rank) continue
      builder.send(rank, 0, peer, scheduleTag.direct)
      for (const edge of places) builder.add(edges.blockOfOut[edge], edge - outStart[rank])
    }
    const received = byPeer(inRank, inStart[rank], inStart[rank + 1], edges.blockOfIn)
    for (const [peer, places] of received) {
      if (peer === rank) continue
      builder.receive(rank, 0, peer, scheduleTag.direct)
      for (const edge of places) {
        builder.add(edges.blockOfIn[edge], builder.slot(rank, edge - inStart[rank]))
      }
    }
    const loops = received.get(rank) ?? []
    if (loops.length === 0) continue
    builder.copy(rank, 0)
    for (const [i, edge] of loops.entries()) {
      const from = sent.get(rank)![i] - outStart[rank]
      builder.add(edges.blockOfIn[edge], from, builder.slot(rank, edge - inStart[rank]))
    }
  }
  return builder.build()
}

/** Lists the edges of a list by the rank at the other end, in the order of their blocks. */
function byPeer(
  peers: Int32Array,
  from: number,
  to: number,
  blockOf: Int32Array,
): ReadonlyMap<number, number[]> {
  const edges = Array.from({ length: to - from }, (_, i) => from + i)
  const rows = new Map<number, number[]>()
  for (const edge of edges.sort((a, b) => blockOf[a] - blockOf[b])) {
    const row = rows.get(peers[edge])
    if (row === undefined) rows.set(peers[edge], [edge])
    else row.push(edge)
  }
  return rows
}

interface NamedEdges {
  readonly partStart: Int32Array
  /** The blocks by position in the out-lists. */
  readonly blockOfOut: Int32Array
  /** The blocks by position in the in-lists. */
  readonly blockOfIn: Int32Array
}

/** Numbers all edges that are known from either end by source, destination and occurrence. */
function namedEdges({ ranks, outStart, outRank, inStart, inRank }: ProcessTopology): NamedEdges {
  /** For each source, the destinations of its known edges with their numbers of edges. */
  const counts = Array.from({ length: ranks }, () => new Map<number, number>())
  const forEach = (
    start: Int32Array,
    peer: Int32Array,
    visit: (row: number, other: number, edge: number, nth: number) => void,
  ) => {
    for (let row = 0; row < ranks; row++) {
      const seen = new Map<number, number>()
      for (let edge = start[row]; edge < start[row + 1]; edge++) {
        const nth = seen.get(peer[edge]) ?? 0
        seen.set(peer[edge], nth + 1)
        visit(row, peer[edge], edge, nth)
      }
    }
  }
  const count = (source: number, destination: number, nth: number): void => {
    counts[source].set(destination, Math.max(counts[source].get(destination) ?? 0, nth + 1))
  }
  forEach(outStart, outRank, (source, destination, _, nth) => count(source, destination, nth))
  forEach(inStart, inRank, (destination, source, _, nth) => count(source, destination, nth))
  const partStart = new Int32Array(ranks + 1)
  const first = counts.map((row, source) => {
    const starts = new Map<number, number>()
    let next = partStart[source]
    for (const destination of Int32Array.from(row.keys()).sort()) {
      starts.set(destination, next)
      next += row.get(destination)!
    }
    partStart[source + 1] = next
    return starts
  })
  const blockOfOut = new Int32Array(outRank.length)
  const blockOfIn = new Int32Array(inRank.length)
  forEach(outStart, outRank, (source, destination, edge, nth) => {
    blockOfOut[edge] = first[source].get(destination)! + nth
  })
  forEach(inStart, inRank, (destination, source, edge, nth) => {
    blockOfIn[edge] = first[source].get(destination)! + nth
  })
  return { partStart, blockOfOut, blockOfIn }
}
