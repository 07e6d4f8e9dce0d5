import { requireNotAborted } from '../../base/abort.js'
import { requireKnownOptions } from '../../base/known-options.js'
import { type OptionTable, uncheckedOptions } from '../../base/option.js'
import { RankweaveError, wrongValue } from '../../errors.js'
import { type Machine, nodeOf as nodesOfMachine } from '../../machine/machine.js'
import { type NeighborSchedule, opKind } from '../../schedule/ir.js'
import { requireSchedule } from '../../schedule/require-schedule.js'
import { type NeighborCollective, neighborCollectives } from '../../schedule/specification.js'
import { verify } from '../../schedule/verify/verify.js'
import type { GroupingProgress } from '../../topology/friends/grouping-options.js'
import type { Grouping } from '../../topology/grouping/group-friends.js'
import { distinctOut, transposeTopology } from '../../topology/neighbors.js'
import { type ProcessTopology, requireTopology } from '../../topology/process-topology.js'
import { reduceInOrder, reduceSchedule } from '../strategies/reduce-schedule.js'
import { alltoallSchedule, routeSchedule } from '../strategies/route-schedule.js'
import { checkedKind, parametersOf, type Strategy } from '../strategies/strategies.js'
import type { GroupedSchedule, Route, RouteFacts } from '../strategies/strategy-kind.js'

/**
 * The operations over a topology that can be planned: the neighborhood collectives, and neighbor reductions that may
 * combine in any order.
 */
export type NeighborOperation = NeighborCollective | 'neighbor-reduce-any'

const operations: readonly NeighborOperation[] = [...neighborCollectives, 'neighbor-reduce-any']

export interface PlanOptions {
  /** Default `neighbor-allgather`. */
  readonly operation?: NeighborOperation
  /** The nodes and cores of the ranks, which some strategies need. */
  readonly machine?: Machine
  /** The node of every rank, instead of a machine. */
  readonly nodeOf?: Int32Array
  /** The clock, in milliseconds; only differences count. Default `performance.now`. */
  readonly now?: () => number
  /** Reports every friend group as it is found, with the step and the number of groups so far. */
  readonly onGroup?: (step: number, groups: number) => void
  /**
   * Reports progress from inside the search for friend groups, as `onProgress` of `groupFriends` does; an error that it
   * throws ends the planning.
   */
  readonly onProgress?: (progress: GroupingProgress) => void
  /**
   * Ends the planning with ERR_ABORTED, as `signal` of `groupFriends`. Planning reads it at the beginning, and inside
   * the search for friend groups, which may take long.
   */
  readonly signal?: AbortSignal
}

/** A schedule and how it was made. */
export interface Plan {
  readonly schedule: NeighborSchedule
  /** The friend groups behind a common-neighbor plan. */
  readonly groups: Grouping | null
  readonly planMs: number
  /** The ranks that the plan serves if no process has the whole topology: those of this process. Undefined for all. */
  readonly ranks?: Int32Array
}

/** The costs of a plan, counted from the schedule. */
export interface PlanStatistics {
  readonly ranks: number
  readonly strategy: string
  readonly k: number | null
  readonly theta: number | null
  readonly groups: number
  readonly steps: number
  readonly messages: {
    /** The number of distinct edges without self loops, which is that of the messages of `direct`. */
    readonly direct: number
    readonly planned: number
    readonly meanPerRank: number
    readonly maxPerRank: number
    /** The number of messages whose two ranks are on different nodes; null without a machine. */
    readonly interNode: number | null
  }
  /** The number of blocks sent, counted once per message that carries them. */
  readonly volumeBlocks: number
}

const knownOptions: OptionTable<PlanOptions> = uncheckedOptions(
  'operation',
  'machine',
  'nodeOf',
  'now',
  'onGroup',
  'onProgress',
  'signal',
)

/**
 * Plans a neighbor allgather, or another operation over a topology: the same arguments give the same schedule on every
 * machine. A strategy uses the same routes for all operations; a reduction in any order takes those of the reversed
 * topology, backwards.
 *
 * @throws ERR_STRATEGY an unknown strategy, impossible parameters, a strategy that needs nodes without a machine,
 *   engine `distributed`, since one process could only simulate all ranks
 * @throws ERR_MACHINE fewer cores than ranks; ERR_ARGUMENT an unknown operation, or an invalid signal
 * @throws ERR_ABORTED through `signal`; the errors of `onProgress`
 */
export function plan(topology: ProcessTopology, strategy: Strategy, options: PlanOptions = {}): Plan {
  requireTopology(topology)
  requireKnownOptions('plan', options, knownOptions)
  const { operation = 'neighbor-allgather', now = () => performance.now() } = options
  if (!operations.includes(operation))
    throw wrongValue('ERR_ARGUMENT', `plan: expected an operation among ${operations.join(', ')}`, operation)
  requireNotAborted('plan', options.signal)
  const begin = now()
  const planned = scheduleOf(topology, strategy, operation, options)
  return { ...planned, planMs: now() - begin }
}

/**
 * Plans and verifies the plan.
 *
 * @throws ERR_STRATEGY, ERR_MACHINE as {@link plan}; ERR_SCHEDULE when it does not verify
 */
export function verifiedPlan(topology: ProcessTopology, strategy: Strategy, options: PlanOptions): Plan {
  const made = plan(topology, strategy, options)
  const ordered = options.operation === 'neighbor-reduce'
  const { ok, violations } = verify(made.schedule, topology, { ordered })
  if (!ok) throw new RankweaveError('ERR_SCHEDULE', `the plan does not verify: ${violations[0]?.message}`)
  return made
}

/**
 * Returns the route of a strategy, which every operation over the topology may follow.
 *
 * @throws ERR_STRATEGY, ERR_MACHINE as {@link plan}
 */
export function routeOf(topology: ProcessTopology, strategy: Strategy, options: PlanOptions = {}): Route {
  const kind = checkedKind(strategy, topology.ranks)
  return kind.route(strategy, factsOf(topology, options))
}

function scheduleOf(
  topology: ProcessTopology,
  strategy: Strategy,
  operation: NeighborOperation,
  options: PlanOptions,
): GroupedSchedule {
  const header = () => ({ strategy: strategy.kind, parameters: parametersOf(strategy) })
  switch (operation) {
    case 'neighbor-allgather':
      return allgatherSchedule(strategy, factsOf(topology, options))
    case 'neighbor-reduce': {
      const { schedule } = allgatherSchedule(strategy, factsOf(topology, options))
      return { schedule: reduceInOrder(schedule), groups: null }
    }
    case 'neighbor-alltoall': {
      const route = routeOf(topology, strategy, options)
      return { schedule: alltoallSchedule(topology, route, header()), groups: null }
    }
    case 'neighbor-reduce-any': {
      const route = routeOf(transposeTopology(topology), strategy, options)
      return { schedule: reduceSchedule(topology, route, header()), groups: null }
    }
  }
}

function allgatherSchedule(strategy: Strategy, facts: RouteFacts): GroupedSchedule {
  const { topology } = facts
  const kind = checkedKind(strategy, topology.ranks)
  if (kind.schedule !== undefined) return kind.schedule(strategy, facts)
  const header = { strategy: strategy.kind, parameters: parametersOf(strategy) }
  return { schedule: routeSchedule(topology, kind.route(strategy, facts), header), groups: null }
}

function factsOf(topology: ProcessTopology, options: PlanOptions): RouteFacts {
  const { onGroup, onProgress, signal } = options
  return {
    topology,
    nodeOf: knownNodes(topology.ranks, options),
    progress: {
      ...(onGroup === undefined ? {} : { onGroup }),
      ...(onProgress === undefined ? {} : { onProgress }),
      ...(signal === undefined ? {} : { signal }),
    },
  }
}

function knownNodes(ranks: number, { machine, nodeOf }: PlanOptions): Int32Array | null {
  if (nodeOf !== undefined) return nodeOf
  return machine === undefined ? null : nodesOfMachine(machine, ranks)
}

/**
 * Counts the costs of a plan from its schedule.
 *
 * @param nodeOf node of every rank; without it there is no count of messages between nodes
 * @throws ERR_ARGUMENT nodes for another number of ranks
 */
export function planStatistics(plan: Plan, nodeOf: Int32Array | null = null): PlanStatistics {
  const { schedule, groups } = Object(plan) as Plan
  requireSchedule(schedule)
  const { topology } = schedule
  const { ranks } = topology
  if (nodeOf !== null && Object(nodeOf).length !== ranks) {
    const expected = `expected a node for each of ${ranks} ranks`
    throw wrongValue('ERR_ARGUMENT', expected, nodeOf?.length ?? nodeOf)
  }
  let planned = 0
  let maxPerRank = 0
  let interNode = 0
  let volumeBlocks = 0
  for (let rank = 0; rank < ranks; rank++) {
    let sends = 0
    for (let op = schedule.opStart[rank]; op < schedule.opStart[rank + 1]; op++) {
      if (schedule.opKind[op] !== opKind.send) continue
      sends++
      volumeBlocks += schedule.entryStart[op + 1] - schedule.entryStart[op]
      if (nodeOf !== null && nodeOf[schedule.opPeer[op]] !== nodeOf[rank]) interNode++
    }
    planned += sends
    maxPerRank = Math.max(maxPerRank, sends)
  }
  return {
    ranks,
    strategy: schedule.strategy,
    k: groups?.k ?? null,
    theta: groups?.theta ?? null,
    groups: groups?.count ?? 0,
    steps: groups?.steps ?? 0,
    messages: {
      direct: distinctOut(topology).rank.length,
      planned,
      meanPerRank: ranks === 0 ? 0 : planned / ranks,
      maxPerRank,
      interNode: nodeOf === null ? null : interNode,
    },
    volumeBlocks,
  }
}
