import { requireOptions } from '../base/known-options.js'
import { wrongValue } from '../errors.js'
import { formatMachine } from '../machine/format-machine.js'
import { type Machine, nodeOf } from '../machine/machine.js'
import { plan as makePlan, planStatistics } from '../neighborhood/plan/plan.js'
import type { Plan, PlanStatistics } from '../neighborhood/strategies/strategy.js'
import type { Parameters, Schedule } from '../schedule/ir.js'
import { lower } from '../schedule/lower/lower.js'
import { isNeighborCollective, upTo } from '../schedule/specification.js'
import { requireTopology } from '../topology/check-topology.js'
import type { FriendGroups } from '../topology/friends/friend-groups.js'
import type { ProcessTopology } from '../topology/process-topology.js'
import {
  type CellBounds,
  type CellTraffic,
  messagesPerRank,
  mostCells,
  nodeBounds,
  rankBounds,
  trafficIn,
} from './cells.js'
import { type Histogram, histograms } from './histogram.js'
import { type RankView, rankView } from './rank-view.js'
import { type SimulationView, type SizeView, simulationView, sizeViews } from './simulation-view.js'
import { requireRankIn } from './topology-view.js'

/** What pictures of a plan show, beside direct sends of the same operation. */
export interface PlanView {
  readonly name: string
  readonly collective: string
  readonly strategy: string
  readonly parameters: Parameters
  readonly statistics: { readonly planned: PlanStatistics; readonly direct: PlanStatistics }
  readonly traffic: TrafficView
  /** The same between nodes; null without a machine. */
  readonly nodeTraffic: TrafficView | null
  /** Ranks by messages that they send and receive, direct and planned in the same bins. */
  readonly messages: {
    readonly sent: { readonly direct: Histogram; readonly planned: Histogram }
    readonly received: { readonly direct: Histogram; readonly planned: Histogram }
  }
  readonly groups: GroupsView | null
  /** Node of every rank; null without a machine, and for more than {@link mostListedRanks}. */
  readonly nodeOf: readonly number[] | null
  /** Null without a machine that has a profile, and without a length of a block. */
  readonly simulation: SimulationView | null
  /** By length of a block; empty where nothing is simulated. */
  readonly sizes: readonly SizeView[]
  /** Measured on the computer that planned, milliseconds; null for a plan that was read. */
  readonly planMs: number | null
  /** Programs of the ranks asked for, or else of those in the timeline. */
  readonly ranks: readonly RankView[]
}

export interface TrafficView {
  readonly bounds: CellBounds
  readonly direct: CellTraffic
  readonly planned: CellTraffic
}

export interface GroupsView {
  readonly k: number
  readonly theta: number
  readonly mode: string
  readonly steps: number
  readonly count: number
  /**
   * The group of every rank in the first step that has it in one, -1 for none; null for more than
   * {@link mostListedRanks}.
   */
  readonly groupOf: readonly number[] | null
}

export interface PlanViewOptions {
  /** What the topology is called. */
  readonly name: string
  /** Of every block, for the simulation. */
  readonly bytes?: number
  /**
   * Lengths of a block that are compared. Default: {@link defaultSizes}, fewer for more than 200,000
   * messages, and `bytes`; `[]`: none.
   */
  readonly sizes?: readonly number[]
  /** Ranks whose programs and timelines are wanted, at most {@link mostAsked}. */
  readonly ranks?: readonly number[]
  /** Ranks in the timeline, 1 to 64. Default 32. */
  readonly rows?: number
  /** Rows of the traffic matrix, 1 to 128. Default 128. */
  readonly cells?: number
  /** False for a plan that was read: then its planning time is not known. Default: true. */
  readonly isMeasured?: boolean
}

export const mostListedRanks = 65_536
export const mostAsked = 32
export const defaultSizes: readonly number[] = [4, 64, 512, 4096, 65_536]
const fewSizes: readonly number[] = [64, 4096, 65_536]
const manyMessages = 200_000

/**
 * What pictures of a plan show, at most about 2 MB as JSON whatever its size. Simulates the plan and direct
 * sends: once with their timelines, and once per length that is compared.
 *
 * @param machine nodes of the ranks; with a profile, where they are simulated
 * @throws ERR_ARGUMENT for options out of range
 * @throws ERR_RANK for a rank out of range
 * @throws ERR_MACHINE, ERR_SIMULATION as `simulate` does
 */
export function planView(
  topology: ProcessTopology,
  plan: Plan,
  machine: Machine | null,
  options: PlanViewOptions,
): PlanView {
  requireTopology(topology)
  requireOptions('planView', options)
  const { schedule } = plan
  const asked = requireAsked(topology.ranks, options.ranks ?? [])
  const nodes = machine === null ? null : nodeOf(machine, topology.ranks)
  const { collective } = schedule.specification
  const operation = isNeighborCollective(collective) ? collective : 'neighbor-allgather'
  const direct = makePlan(topology, { kind: 'direct' }, { operation })
  const simulated = simulations(schedule, direct.schedule, machine, asked, {
    ...options,
    moreMs: options.isMeasured === false ? null : plan.planMs - direct.planMs,
  })
  const cells = options.cells ?? mostCells
  const perNode = nodes === null ? null : nodeBounds(nodes, cells)
  const trafficBy = (bounds: CellBounds): TrafficView => ({
    bounds,
    direct: trafficIn(direct.schedule, bounds),
    planned: trafficIn(schedule, bounds),
  })
  const timeline = simulated?.simulation.planned.timeline ?? null
  const shown = asked.length > 0 ? asked : (timeline?.ranks ?? upTo(Math.min(mostAsked, topology.ranks)))
  return {
    name: options.name,
    collective,
    strategy: schedule.strategy,
    parameters: schedule.parameters,
    statistics: { planned: planStatistics(plan, nodes), direct: planStatistics(direct, nodes) },
    traffic: trafficBy(rankBounds(topology.ranks, cells)),
    nodeTraffic: perNode === null ? null : trafficBy(perNode),
    messages: messageHistograms(direct.schedule, schedule),
    groups: plan.groups === null ? null : groupsView(plan.groups),
    nodeOf: nodes === null || nodes.length > mostListedRanks ? null : [...nodes],
    simulation: simulated?.simulation ?? null,
    sizes: simulated?.sizes ?? [],
    planMs: options.isMeasured === false ? null : plan.planMs,
    ranks: rankViews(schedule, shown),
  }
}

/** @throws ERR_RANK, ERR_ARGUMENT */
function requireAsked(ranks: number, asked: readonly number[]): readonly number[] {
  if (asked.length > mostAsked)
    throw wrongValue('ERR_ARGUMENT', `ranks: expected at most ${mostAsked}`, asked.length)
  for (const rank of asked) requireRankIn(ranks, rank)
  return [...new Set(asked)]
}

function simulations(
  planned: Schedule,
  direct: Schedule,
  machine: Machine | null,
  ranks: readonly number[],
  { bytes, sizes, rows = 32, moreMs }: PlanViewOptions & { readonly moreMs: number | null },
): { readonly simulation: SimulationView; readonly sizes: readonly SizeView[] } | null {
  if (machine === null || machine.profile === null || bytes === undefined) return null
  const placement = upTo(planned.specification.ranks)
  const both = { planned: lower(planned, placement), direct: lower(direct, placement) }
  const messages = direct.opKind.length / 2
  const compared = sizes ?? withLength(messages > manyMessages ? fewSizes : defaultSizes, bytes)
  const simulation = simulationView(both, { machine, text: formatMachine(machine) }, { bytes, ranks, rows })
  return { simulation, sizes: sizeViews(both, machine, { sizes: compared, known: simulation, moreMs }) }
}

function withLength(sizes: readonly number[], bytes: number): readonly number[] {
  return [...new Set([...sizes, bytes])].sort((a, b) => a - b)
}

function messageHistograms(direct: Schedule, planned: Schedule): PlanView['messages'] {
  const [before, after] = [messagesPerRank(direct), messagesPerRank(planned)]
  const [sentDirect, sentPlanned] = histograms(before.sent, after.sent)
  const [receivedDirect, receivedPlanned] = histograms(before.received, after.received)
  return {
    sent: { direct: sentDirect, planned: sentPlanned },
    received: { direct: receivedDirect, planned: receivedPlanned },
  }
}

function groupsView({ ranks, k, theta, mode, steps, count, members }: FriendGroups): GroupsView {
  const groupOf = new Array<number>(ranks <= mostListedRanks ? ranks : 0).fill(-1)
  // Groups ascend by step, so the first that has a rank is of its first step.
  if (groupOf.length > 0)
    for (const [i, member] of members.entries())
      if (groupOf[member] === -1) groupOf[member] = Math.floor(i / k)
  return { k, theta, mode, steps, count, groupOf: ranks <= mostListedRanks ? groupOf : null }
}

/** Operations of all programs together; the first of each rank where there are more. */
const mostListedOperations = 12_000

function rankViews(schedule: Schedule, ranks: ArrayLike<number>): RankView[] {
  const views: RankView[] = []
  let listed = 0
  for (let i = 0; i < ranks.length && i < mostAsked && listed < mostListedOperations; i++) {
    const view = rankView(schedule, ranks[i])
    listed += view.kind.length
    views.push(view)
  }
  return views
}
