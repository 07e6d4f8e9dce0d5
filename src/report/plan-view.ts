import { requireOptions } from '../base/known-options.js'
import { wrongValue } from '../errors.js'
import { type Machine, nodeOf } from '../machine/machine.js'
import { formatMachine } from '../machine/machine-text.js'
import type { Plan, PlanStatistics } from '../neighborhood/plan/plan.js'
import { plan as makePlan, planStatistics } from '../neighborhood/plan/plan.js'
import { opKind, type Parameters, type Schedule } from '../schedule/ir.js'
import { lower } from '../schedule/lower/lower.js'
import { isNeighborCollective, upTo } from '../schedule/specification.js'
import type { FriendGroups } from '../topology/friends/friend-groups.js'
import { type ProcessTopology, requireTopology } from '../topology/process-topology.js'
import { type Histogram, histograms } from './histogram.js'
import { type SimulationView, type SizeView, simulationView, sizeViews } from './simulation-view.js'
import { requireRankIn } from './topology-view.js'

/** The data of the pictures of a plan, compared with direct sends of the same operation. */
export interface PlanView {
  readonly name: string
  readonly collective: string
  readonly strategy: string
  readonly parameters: Parameters
  readonly statistics: { readonly planned: PlanStatistics; readonly direct: PlanStatistics }
  readonly traffic: TrafficView
  /** The traffic between nodes; null without a machine. */
  readonly nodeTraffic: TrafficView | null
  /** The numbers of messages that ranks send and receive, direct and planned in the same bins. */
  readonly messages: {
    readonly sent: { readonly direct: Histogram; readonly planned: Histogram }
    readonly received: { readonly direct: Histogram; readonly planned: Histogram }
  }
  readonly groups: GroupsView | null
  /** The node of every rank; null without a machine, and for more than {@link mostListedRanks}. */
  readonly nodeOf: readonly number[] | null
  /** The simulated run; null without a block length or a machine that has a profile. */
  readonly simulation: SimulationView | null
  /** The comparison by block length; empty if nothing is simulated. */
  readonly sizes: readonly SizeView[]
  /** The planning time on the computer that planned, in milliseconds; null for a plan that was read. */
  readonly planMs: number | null
  /** The programs of the requested ranks, or else of those in the timeline. */
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
  /** The group of every rank in its first step with groups, -1 for none; null for more than {@link mostListedRanks}. */
  readonly groupOf: readonly number[] | null
}

interface PlanViewOptions {
  /** The name of the topology. */
  readonly name: string
  /** The length of every block, for the simulation. */
  readonly bytes?: number
  /**
   * The block lengths that are compared. Default: `bytes` and {@link defaultSizes}, fewer for more than 200,000
   * messages; `[]`: none.
   */
  readonly sizes?: readonly number[]
  /** The ranks whose programs and timelines are included, at most {@link mostAsked}. */
  readonly ranks?: readonly number[]
  /** The number of ranks in the timeline, 1 to 64. Default 32. */
  readonly rows?: number
  /** The number of rows of the traffic matrix, 1 to 128. Default 128. */
  readonly cells?: number
  /** False for a plan that was read, whose planning time is unknown. Default: true. */
  readonly isMeasured?: boolean
  /** The measured time of choosing the strategy. Default: 0, for one that was named. */
  readonly choiceMs?: number
}

export const mostListedRanks = 65_536
export const mostAsked = 32
const defaultSizes: readonly number[] = [4, 64, 512, 4096, 65_536]
const fewSizes: readonly number[] = [64, 4096, 65_536]
const manyMessages = 200_000

/**
 * Gathers the data of a plan's pictures, at most about 2 MB as JSON. Simulates the plan and direct sends, once with
 * timelines and once per compared length.
 *
 * @param machine nodes of the ranks; with a profile, the machine that is simulated
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
    moreMs:
      options.isMeasured === false
        ? null
        : (options.choiceMs ?? 0) + Math.max(0, plan.planMs - direct.planMs),
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
  // Groups ascend by step, so the first group that contains a rank is of its first step.
  if (groupOf.length > 0)
    for (const [i, member] of members.entries())
      if (groupOf[member] === -1) groupOf[member] = Math.floor(i / k)
  return { k, theta, mode, steps, count, groupOf: ranks <= mostListedRanks ? groupOf : null }
}

/** The most operations that all programs together list; a rank with more lists its first ones. */
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

/**
 * A distribution of ranks over the rows and columns of a traffic matrix: row i covers ranks `start[i]` up to the next.
 */
export interface CellBounds {
  /** The first rank of every row, then the number of ranks: one element more than there are rows. */
  readonly start: readonly number[]
  /** The unit of a row: one rank, a block of ranks, one node or several consecutive nodes. */
  readonly of: 'rank' | 'ranks' | 'node' | 'nodes'
  /** The number of nodes that a row covers; the last row may cover fewer. 0 for rows of ranks. */
  readonly nodes: number
}

/** The traffic between all pairs of rows: `rows * rows` numbers each, row by row, senders first. */
export interface CellTraffic {
  readonly messages: readonly number[]
  /** The number of blocks that these messages carry, counted once per message. */
  readonly blocks: readonly number[]
}

const mostCells = 128

/** Cuts the ranks into equal blocks, at most `cells` of them. @throws ERR_ARGUMENT */
export function rankBounds(ranks: number, cells = mostCells): CellBounds {
  if (!Number.isInteger(cells) || cells < 1 || cells > mostCells)
    throw wrongValue('ERR_ARGUMENT', `cells: expected 1 to ${mostCells}`, cells)
  const perCell = Math.max(1, Math.ceil(ranks / cells))
  const start: number[] = []
  for (let first = 0; first < ranks; first += perCell) start.push(first)
  return { start: [...start, ranks], of: perCell === 1 ? 'rank' : 'ranks', nodes: 0 }
}

/**
 * Makes a row per node, or per equal number of consecutive nodes if there are more than `cells`.
 * @param nodeOf ascending
 */
export function nodeBounds(nodeOf: Int32Array, cells = mostCells): CellBounds {
  const first = nodeOf.reduce<number[]>((starts, node, rank) => {
    if (rank === 0 || node !== nodeOf[rank - 1]) starts.push(rank)
    return starts
  }, [])
  const nodes = Math.max(1, Math.ceil(first.length / cells))
  const start = first.filter((_, i) => i % nodes === 0)
  return { start: [...start, nodeOf.length], of: nodes === 1 ? 'node' : 'nodes', nodes }
}

/** Counts the sends of a schedule by the cells of their ranks. */
function trafficIn(schedule: Schedule, { start }: CellBounds): CellTraffic {
  const { opStart, opKind: kinds, opPeer, entryStart } = schedule
  const rows = start.length - 1
  const cellOf = new Int32Array(schedule.specification.ranks)
  for (let row = 0; row < rows; row++) cellOf.fill(row, start[row], start[row + 1])
  const messages = new Array<number>(rows * rows).fill(0)
  const blocks = new Array<number>(rows * rows).fill(0)
  for (let rank = 0; rank < cellOf.length; rank++) {
    for (let op = opStart[rank]; op < opStart[rank + 1]; op++) {
      if (kinds[op] !== opKind.send) continue
      const cell = cellOf[rank] * rows + cellOf[opPeer[op]]
      messages[cell]++
      blocks[cell] += entryStart[op + 1] - entryStart[op]
    }
  }
  return { messages, blocks }
}

/** Counts the messages that every rank sends and receives. */
function messagesPerRank(schedule: Schedule): {
  readonly sent: Int32Array
  readonly received: Int32Array
} {
  const { opStart, opKind: kinds } = schedule
  const { ranks } = schedule.specification
  const sent = new Int32Array(ranks)
  const received = new Int32Array(ranks)
  for (let rank = 0; rank < ranks; rank++) {
    for (let op = opStart[rank]; op < opStart[rank + 1]; op++) {
      if (kinds[op] === opKind.send) sent[rank]++
      else if (kinds[op] === opKind.receive) received[rank]++
    }
  }
  return { sent, received }
}

/** The operations of one rank, in the order of its schedule. Columns of equal length. */
export interface RankView {
  readonly rank: number
  readonly phase: readonly number[]
  /** The index in {@link operationWords}. */
  readonly kind: readonly number[]
  /** The destination of a send, the source of a receive, -1 otherwise. */
  readonly peer: readonly number[]
  readonly tag: readonly number[]
  /**
   * The last phase whose messages an operation waits for, -1 if it waits for its data only; null if no operation waits.
   */
  readonly after: readonly number[] | null
  /** The number of blocks that each operation moves. */
  readonly blocks: readonly number[]
  /** The first {@link mostBlocks} blocks of each operation; a partial result is negative. */
  readonly block: readonly (readonly number[])[]
  /** The number of operations beyond {@link mostOperations}, which are not listed. */
  readonly leftOut: number
}

/** The names of operations, indexed by `opKind`. */
export const operationWords = ['send', 'receive', 'copy', 'combine'] as const
const mostOperations = 1000
const mostBlocks = 8

/** @param rank below the ranks of the schedule */
export function rankView(schedule: Schedule, rank: number): RankView {
  const { opStart, opPhase, opKind: kinds, opPeer, opTag, opAfter, entryStart, entryBlock } = schedule
  const first = opStart[rank]
  const end = Math.min(opStart[rank + 1], first + mostOperations)
  const lengths = Array.from(
    { length: end - first },
    (_, i) => entryStart[first + i + 1] - entryStart[first + i],
  )
  const after = [...opAfter.subarray(first, end)]
  return {
    rank,
    phase: [...opPhase.subarray(first, end)],
    kind: [...kinds.subarray(first, end)],
    peer: [...opPeer.subarray(first, end)],
    tag: [...opTag.subarray(first, end)],
    after: after.every((phase) => phase === -1) ? null : after,
    blocks: lengths,
    block: lengths.map((length, i) => [
      ...entryBlock.subarray(entryStart[first + i], entryStart[first + i] + Math.min(length, mostBlocks)),
    ]),
    leftOut: opStart[rank + 1] - end,
  }
}
