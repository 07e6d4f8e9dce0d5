import { requireOptions } from '../../base/known-options.js'
import { RankweaveError, shown } from '../../errors.js'
import { type Machine, nodeOf as nodesOfMachine } from '../../machine/machine.js'
import { opKind } from '../../schedule/ir.js'
import { requireSchedule } from '../../schedule/require-schedule.js'
import { requireTopology } from '../../topology/check-topology.js'
import type { GroupingProgress } from '../../topology/friends/grouping-progress.js'
import { distinctOut } from '../../topology/neighbors.js'
import type { ProcessTopology } from '../../topology/process-topology.js'
import { routeSchedule } from '../strategies/route-schedule.js'
import { checkedKind } from '../strategies/strategies.js'
import type { Plan, PlanStatistics, Strategy } from '../strategies/strategy.js'
import type { GroupedSchedule, Route, RouteFacts } from '../strategies/strategy-kind.js'
import { parametersOf } from '../strategies/strategy-text.js'

export interface PlanOptions {
  /** Nodes and cores of the ranks: needed by strategies that know nodes. */
  readonly machine?: Machine
  /** The node of every rank, instead of a machine. */
  readonly nodeOf?: Int32Array
  /** Milliseconds; only differences count. Default `performance.now`. */
  readonly now?: () => number
  /** Called for every friend group as it is found, with the step and the number of groups so far. */
  readonly onGroup?: (step: number, groups: number) => void
  /**
   * Called from inside the search for friend groups, as `onProgress` of `groupFriends`; what it throws ends
   * the planning.
   */
  readonly onProgress?: (progress: GroupingProgress) => void
}

/**
 * Plans a neighbor allgather: the same topology, strategy and nodes give the same schedule on every machine.
 *
 * @throws ERR_STRATEGY an unknown strategy, impossible parameters, a strategy that needs nodes without a
 *   machine, engine `distributed`, of which one process could only simulate all ranks
 * @throws ERR_MACHINE fewer cores than ranks
 */
export function plan(topology: ProcessTopology, strategy: Strategy, options: PlanOptions = {}): Plan {
  requirePlanned('plan', topology, options)
  const now = options.now ?? (() => performance.now())
  const begin = now()
  const { schedule, groups } = scheduleOf(strategy, factsOf(topology, options))
  return { schedule, groups, planMs: now() - begin }
}

/** @throws ERR_TOPOLOGY, ERR_ARGUMENT for what is no topology and no options at all */
export function requirePlanned(where: string, topology: unknown, options: unknown): void {
  requireTopology(topology)
  requireOptions(where, options)
}

/**
 * The route of a strategy: what every operation over the topology may follow.
 *
 * @throws ERR_STRATEGY, ERR_MACHINE as {@link plan}
 */
export function routeOf(topology: ProcessTopology, strategy: Strategy, options: PlanOptions = {}): Route {
  const kind = checkedKind(strategy, topology.ranks)
  return kind.route(strategy, factsOf(topology, options))
}

function scheduleOf(strategy: Strategy, facts: RouteFacts): GroupedSchedule {
  const { topology } = facts
  const kind = checkedKind(strategy, topology.ranks)
  if (kind.schedule !== undefined) return kind.schedule(strategy, facts)
  const header = { strategy: strategy.kind, parameters: parametersOf(strategy) }
  return { schedule: routeSchedule(topology, kind.route(strategy, facts), header), groups: null }
}

function factsOf(topology: ProcessTopology, options: PlanOptions): RouteFacts {
  const { onGroup, onProgress } = options
  return {
    topology,
    nodeOf: knownNodes(topology.ranks, options),
    progress: {
      ...(onGroup === undefined ? {} : { onGroup }),
      ...(onProgress === undefined ? {} : { onProgress }),
    },
  }
}

function knownNodes(ranks: number, { machine, nodeOf }: PlanOptions): Int32Array | null {
  if (nodeOf !== undefined) return nodeOf
  return machine === undefined ? null : nodesOfMachine(machine, ranks)
}

/**
 * Counts what a plan costs, from its schedule.
 *
 * @param nodeOf node of every rank; without it there is no count of messages between nodes
 * @throws ERR_ARGUMENT nodes for another number of ranks
 */
export function planStatistics(plan: Plan, nodeOf: Int32Array | null = null): PlanStatistics {
  const { schedule, groups } = Object(plan) as Plan
  requireSchedule(schedule)
  const { topology } = schedule
  const { ranks } = topology
  if (nodeOf !== null && Object(nodeOf).length !== ranks)
    throw new RankweaveError(
      'ERR_ARGUMENT',
      `expected a node for each of ${ranks} ranks, got ${nodeOf?.length ?? shown(nodeOf)}`,
    )
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
