import type { NeighborSchedule } from '../../schedule/ir.js'
import { neighborAllgatherSpecification } from '../../schedule/specification.js'
import type { FriendGroups } from '../../topology/friends/friend-groups.js'
import type { Grouping } from '../../topology/grouping/group-friends.js'
import type { ProcessTopology } from '../../topology/process-topology.js'
import type { Plan } from '../strategies/strategy.js'

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
