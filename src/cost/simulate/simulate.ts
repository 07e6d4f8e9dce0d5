import { requireKnownOptions } from '../../base/known-options.js'
import { type OptionTable, uncheckedOptions } from '../../base/option.js'
import { shown } from '../../errors.js'
import { checkMachine } from '../../machine/check-machine.js'
import type { Machine } from '../../machine/machine.js'
import { networkOf, profileOf } from '../../machine/network.js'
import { portsOf } from '../../machine/nodes.js'
import { type Level, levels } from '../../machine/profile.js'
import { opKind, type Schedule } from '../../schedule/ir.js'
import { lower } from '../../schedule/lower/lower.js'
import type { LoweredSchedule } from '../../schedule/lower/program.js'
import { requireSchedule } from '../../schedule/require-schedule.js'
import { upTo } from '../../schedule/specification.js'
import { operationsOfRank } from '../../schedule/walk.js'
import { entriesByRow, rowStarts } from '../../topology/compressed-rows.js'
import {
  forEachIntervalOfFrame,
  forEachIntervalOfJob,
  type RunRecord,
  type VisitInterval,
} from './activities.js'
import { type BytesOf, failSimulation, lengthsOfBlocks, lengthsOfUnits } from './block-lengths.js'
import { blockCopyNs, type Costs, costsOf, costsOfFrames, type ProcessPlaces, placesOf } from './costs.js'
import { type FrameTable, frameTable, frameTableOfRanks, type RankFrames } from './frame-table.js'
import { QueueSearches } from './queue-searches.js'
import { type FrameStart, SimulatedRun, type WaitingTasks, waitingTasks } from './run.js'
import {
  type Activity,
  activities,
  type PathStep,
  type Simulation,
  type Timeline,
  type Traffic,
} from './simulation.js'
import { FramePaths, NodePorts } from './transport.js'

export interface SimulateOptions {
  /**
   * The bytes of every unit of data, as MPI's count describes it, or of every block, by number. A unit is a rank's
   * contribution, or its data for one other if it sends each something else; it is cut into the schedule's segments.
   * Integers up to 2^40.
   */
  readonly bytes: number | ArrayLike<number>
  /** The process of every rank, process p being on core p of the machine. Default: one process per rank. */
  readonly placement?: Int32Array
  /** The rule by which frames leave. Default: `dependencies`, as schedules are executed. */
  readonly progress?: FrameStart
  /** Whether every interval is recorded. Default: false. */
  readonly timeline?: boolean
}

const knownOptions: OptionTable<SimulateOptions> = uncheckedOptions(
  'bytes',
  'placement',
  'progress',
  'timeline',
)

/**
 * Predicts the cost of a schedule on a machine by the model of docs/simulation.md. Deterministic.
 *
 * Memory: about 200 bytes per message between processes, 60 per combination, and the lowered programs.
 *
 * @param source a schedule that verifies, or one that has been lowered, with its placement
 * @throws ERR_SIMULATION for bytes, options or a program that cannot be simulated
 * @throws ERR_MACHINE for a machine without a profile, or with fewer cores than processes
 * @throws ERR_PLACEMENT, ERR_SCHEDULE as `lower` does
 */
export function simulate(
  source: Schedule | LoweredSchedule,
  machine: Machine,
  options: SimulateOptions,
): Simulation {
  return simulateUntil(source, machine, options, Number.POSITIVE_INFINITY)!
}

/** Works as {@link simulate} does, but ends with null once the time exceeds a limit in microseconds. */
export function simulateUntil(
  source: Schedule | LoweredSchedule,
  machine: Machine,
  options: SimulateOptions,
  limitUs: number,
): Simulation | null {
  requireKnownOptions('simulate', options, knownOptions)
  const { bytes, progress = 'dependencies', placement, timeline = false } = options
  checkMachine(machine)
  const profile = profileOf(machine)
  if (progress !== 'dependencies' && progress !== 'phases')
    failSimulation(`progress: expected 'dependencies' or 'phases', got ${shown(progress)}`)
  const { lowered, bytesOf } = loweredSource(source, bytes, placement)
  const places = placesOf(machine, lowered.programs.length)
  const frames = frameTable(lowered, bytesOf)
  const costs = costsOf(frames, lowered, bytesOf, profile, places)
  const limitNs = 1000 * limitUs
  const waiting = waitingTasks(lowered.programs)
  const record = runOnMachine(machine, places, frames, costs, waiting, progress, limitNs)
  if (record === null) return null
  const simulation = simulationOf(record, lowered, bytesOf, timeline)
  return simulation.timeUs > limitUs ? null : simulation
}

function simulationOf(
  record: RunRecord,
  lowered: LoweredSchedule,
  bytesOf: BytesOf,
  hasTimeline: boolean,
): Simulation {
  const { log, frames } = record
  const { placement } = lowered
  const { processes } = frames
  const rankOf = new Int32Array(processes).fill(-1)
  for (let rank = placement.length - 1; rank >= 0; rank--) rankOf[placement[rank]] = rank
  let slowest = 0
  const ends = new Float64Array(processes)
  const waits = new Float64Array(processes)
  for (let p = 0; p < processes; p++) {
    const last = log.last[p]
    if (last === -1) continue
    ends[p] = log.endNs[last]
    let busy = 0
    for (let job = last; job !== -1; job = log.before[job]) busy += log.endNs[job] - log.startNs[job]
    waits[p] = Math.max(0, ends[p] - busy)
    if (ends[p] > ends[slowest]) slowest = p
  }
  return {
    timeUs: processes === 0 ? 0 : ends[slowest] / 1000,
    endUs: Float64Array.from(placement, (process) => ends[process] / 1000),
    waitUs: Float64Array.from(placement, (process) => waits[process] / 1000),
    criticalPath: processes === 0 ? [] : criticalPath(record, slowest, rankOf),
    traffic: trafficOf(frames, record.costs, lowered, bytesOf),
    matching: record.searches?.report() ?? null,
    timeline: hasTimeline ? timelineOf(record, rankOf) : null,
  }
}

function timelineOf(record: RunRecord, rankOf: Int32Array): Timeline {
  let count = 0
  forEachInterval(record, () => count++)
  const rank = new Int32Array(count)
  const activity = new Uint8Array(count)
  const peer = new Int32Array(count)
  const message = new Int32Array(count)
  const bytes = new Float64Array(count)
  const startUs = new Float64Array(count)
  const endUs = new Float64Array(count)
  let at = 0
  forEachInterval(record, (what, process, other, frame, startNs, endNs) => {
    rank[at] = rankOf[process]
    activity[at] = numberOf.get(what)!
    peer[at] = other === -1 ? -1 : rankOf[other]
    message[at] = frame
    bytes[at] = frame === -1 ? 0 : record.frames.bytes[frame]
    startUs[at] = startNs / 1000
    endUs[at] = endNs / 1000
    at++
  })
  const order = byRankAndStart(rank, startUs)
  return {
    rank: rank.map((_, i) => rank[order[i]]),
    activity: activity.map((_, i) => activity[order[i]]),
    peer: peer.map((_, i) => peer[order[i]]),
    message: message.map((_, i) => message[order[i]]),
    bytes: bytes.map((_, i) => bytes[order[i]]),
    startUs: startUs.map((_, i) => startUs[order[i]]),
    endUs: endUs.map((_, i) => endUs[order[i]]),
  }
}

/**
 * Returns intervals by rank, then start, then number. It sorts within each rank, because sorting all together takes ten
 * times as long.
 */
function byRankAndStart(rank: Int32Array, startUs: Float64Array): Int32Array {
  const ranks = rank.reduce((most, of) => Math.max(most, of + 1), 0)
  const first = rowStarts(ranks, rank)
  const order = entriesByRow(first, rank)
  for (let of = 0; of < ranks; of++)
    order.subarray(first[of], first[of + 1]).sort((a, b) => startUs[a] - startUs[b] || a - b)
  return order
}

const numberOf: ReadonlyMap<Activity, number> = new Map(activities.map((name, i) => [name, i]))

function forEachInterval(record: RunRecord, visit: VisitInterval): void {
  const { frames, log } = record
  for (let process = 0; process < frames.processes; process++) {
    for (let job = log.last[process]; job !== -1; job = log.before[job]) {
      forEachIntervalOfJob(record, process, job, visit)
      const frame = log.wokenBy[job]
      if (frame === -1) continue
      const before = log.before[job]
      const idleSince = before === -1 ? 0 : log.endNs[before]
      const other = frames.from[frame] === process ? frames.to[frame] : frames.from[frame]
      if (log.startNs[job] > idleSince) visit('wait', process, other, frame, idleSince, log.startNs[job])
    }
  }
  for (let frame = 0; frame < frames.from.length; frame++) forEachIntervalOfFrame(record, frame, visit)
}

/**
 * Returns the steps that determined the end of a process, from its last job back. The step before a job is the job of
 * the same processor before it or, if the processor was idle, the frame that ended the idle time.
 */
function criticalPath(record: RunRecord, process: number, rankOf: Int32Array): PathStep[] {
  const { log, frames } = record
  const steps: PathStep[] = []
  let found: PathStep[] = []
  const visit: VisitInterval = (activity, by, other, _frame, startNs, endNs) => {
    const peer = other === -1 ? -1 : rankOf[other]
    found.push({ activity, rank: rankOf[by], peer, startUs: startNs / 1000, endUs: endNs / 1000 })
  }
  /** The path is built backwards, so later intervals come first. */
  const append = (): void => {
    while (found.length > 0) steps.push(found.pop()!)
    found = []
  }
  let at = process
  let job = log.last[process]
  while (job !== -1) {
    forEachIntervalOfJob(record, at, job, visit)
    append()
    let frame = log.wokenBy[job]
    if (frame === -1) {
      job = log.before[job]
      continue
    }
    for (;;) {
      forEachIntervalOfFrame(record, frame, visit)
      append()
      const awaited = log.awaited[frame]
      if (awaited <= -2) {
        frame = -2 - awaited
        continue
      }
      job = awaited === -1 ? frame : awaited
      at = awaited === -1 ? frames.from[frame] : frames.to[frame]
      break
    }
  }
  return steps.reverse()
}

/**
 * The frames that ranks exchange, one rank per process, without a schedule. Blocks are of equal length, and frames wait
 * for others.
 */
export interface FrameGraph extends RankFrames {
  /** The frames that bring the data of frame f to its sender, each once: `bringer[bringerStart[f]]` up to the next. */
  readonly bringerStart: Int32Array
  readonly bringer: Int32Array
  /** The number of slots that each rank fills by copying, after everything else. */
  readonly copies: Int32Array
}

/**
 * Returns what `simulate` returns for the schedule that has these frames, in a fraction of the time: it neither makes
 * nor lowers a schedule. Times are the same to the last bit if no slot is copied; otherwise they differ by rounding.
 *
 * @throws ERR_SIMULATION, ERR_MACHINE as `simulate`
 */
export function simulateFrames(
  graph: FrameGraph,
  machine: Machine,
  blockBytes: number,
): Pick<Simulation, 'timeUs' | 'endUs' | 'traffic' | 'matching'> {
  checkMachine(machine)
  const profile = profileOf(machine)
  const frames = frameTableOfRanks(graph, blockBytes)
  const places = placesOf(machine, frames.processes)
  const costs = {
    ...costsOfFrames(frames, profile, places),
    combineNs: new Float64Array(0),
    copyNs: Float64Array.from(graph.copies, (count) => count * blockCopyNs(profile, blockBytes)),
  }
  const waiting = waitingFrames(graph, frames)
  const { log, searches } = runOnMachine(
    machine,
    places,
    frames,
    costs,
    waiting,
    'dependencies',
    Number.POSITIVE_INFINITY,
  )!
  const { last, endNs } = log
  const endUs = Float64Array.from(last, (job) => (job === -1 ? 0 : endNs[job] / 1000))
  const timeUs = endUs.reduce((latest, us) => Math.max(latest, us), 0)
  const matching = searches?.report() ?? null
  return { timeUs, endUs, traffic: trafficOfFrames(frames, costs), matching }
}

/** Returns the frames of all ranks as tasks that wait for receives. */
function waitingFrames(
  { sendStart, bringerStart, bringer }: FrameGraph,
  { receiveOf, receiveStart, from }: FrameTable,
): WaitingTasks {
  const frames = from.length
  const needs = new Int32Array(frames)
  const useStart = new Int32Array(frames + 1)
  for (const brought of bringer) useStart[receiveOf[brought] + 1]++
  for (let position = 0; position < frames; position++) useStart[position + 1] += useStart[position]
  const next = useStart.slice()
  const use = new Int32Array(bringer.length)
  for (let frame = 0; frame < frames; frame++) {
    needs[frame] = bringerStart[frame + 1] - bringerStart[frame]
    for (let i = bringerStart[frame]; i < bringerStart[frame + 1]; i++)
      use[next[receiveOf[bringer[i]]]++] = frame - sendStart[from[frame]]
  }
  return { taskStart: sendStart, needs, bringerStart: receiveStart, useStart, use, gates: null }
}

/**
 * Runs frames on the links of a machine, as every simulation does, with a schedule or without.
 *
 * @returns null if it takes longer than `limitNs`
 * @throws ERR_SIMULATION when processes wait for each other
 */
function runOnMachine(
  machine: Machine,
  places: ProcessPlaces,
  frames: FrameTable,
  costs: Costs,
  waiting: WaitingTasks,
  progress: FrameStart,
  limitNs: number,
): RunRecord | null {
  const { eagerLimitBytes, matchNsPerEntry = 0 } = profileOf(machine)
  const paths = new FramePaths(networkOf(machine), frames, costs, places)
  const searches = matchNsPerEntry === 0 ? null : new QueueSearches(frames, matchNsPerEntry)
  const limit = portsOf(machine)
  const nodes = machine.cores.length
  const ports = Number.isFinite(limit) ? new NodePorts(frames, places.node, nodes, limit) : null
  const setting = { paths, costs, ports, eagerLimitBytes, progress, searches }
  const log = new SimulatedRun(frames, waiting, setting).toEnd(limitNs)
  if (log === null) return null
  return { frames, costs, paths, log, eagerLimitBytes, searches }
}

/** Programs, and the lengths of the blocks that they move. */
interface LoweredSource {
  readonly lowered: LoweredSchedule
  readonly bytesOf: BytesOf
}

/**
 * Returns the programs to simulate: those of a schedule lowered to a placement, or of one that was lowered before.
 *
 * @param bytes of every unit of data, or of every block, by number
 * @param placement default: one process per rank
 * @throws ERR_SIMULATION for bytes and for an invalid schedule; ERR_PLACEMENT, ERR_SCHEDULE as `lower` does
 */
export function loweredSource(
  source: Schedule | LoweredSchedule,
  bytes: number | ArrayLike<number>,
  placement: Int32Array | undefined,
): LoweredSource {
  if (typeof source !== 'object' || source === null || !('programs' in source || 'specification' in source))
    failSimulation(`expected a schedule, got ${shown(source)}`)
  if (typeof bytes !== 'number' && typeof Object(bytes).length !== 'number')
    failSimulation(`bytes: expected a number, or one per block, got ${shown(bytes)}`)
  const schedule = 'programs' in source ? source.schedule : source
  requireSchedule(schedule)
  const { specification } = schedule
  const bytesOf =
    typeof bytes === 'number' ? lengthsOfUnits(specification, bytes) : lengthsOfBlocks(specification, bytes)
  if ('programs' in source && placement !== undefined)
    failSimulation('placement: expected none with a schedule that has been lowered to one')
  const lowered = 'programs' in source ? source : lower(source, placement ?? upTo(specification.ranks))
  return { lowered, bytesOf }
}

/** Returns the messages between processes, and their payload by the level over which they travel. */
export function sentIn(traffic: Readonly<Record<Level, Traffic>>): {
  readonly messages: number
  readonly bytes: Readonly<Record<Level, number>>
} {
  const { process, package: near, node, network } = traffic
  return {
    messages: near.messages + node.messages + network.messages,
    bytes: { process: process.bytes, package: near.bytes, node: node.bytes, network: network.bytes },
  }
}

/** Returns the frames by level; level `process` has the messages of the schedule that no frame carries. */
function trafficOf(
  frames: FrameTable,
  costs: Costs,
  lowered: LoweredSchedule,
  bytesOf: BytesOf,
): Readonly<Record<Level, Traffic>> {
  return { ...trafficOfFrames(frames, costs), process: messagesInside(lowered, bytesOf) }
}

function trafficOfFrames(
  { bytes }: Pick<FrameTable, 'bytes'>,
  { level }: Pick<Costs, 'level'>,
): Readonly<Record<Level, Traffic>> {
  const messages = levels.map(() => 0)
  const sums = levels.map(() => 0)
  for (let f = 0; f < bytes.length; f++) {
    messages[level[f]]++
    sums[level[f]] += bytes[f]
  }
  const of = (at: number): Traffic => ({ messages: messages[at], bytes: sums[at] })
  return { process: of(0), package: of(1), node: of(2), network: of(3) }
}

/** Returns the messages between ranks of one process. */
function messagesInside({ schedule, placement, programs }: LoweredSchedule, bytesOf: BytesOf): Traffic {
  if (programs.every(({ counts }) => counts.messagesInside === 0)) return { messages: 0, bytes: 0 }
  const { opPeer, entryStart, entryBlock } = schedule
  let messages = 0
  let bytes = 0
  for (let rank = 0; rank < placement.length; rank++) {
    const [first, end] = operationsOfRank(schedule, rank)
    for (let op = first; op < end; op++) {
      if (schedule.opKind[op] !== opKind.send || placement[opPeer[op]] !== placement[rank]) continue
      messages++
      for (let e = entryStart[op]; e < entryStart[op + 1]; e++) bytes += bytesOf(entryBlock[e])
    }
  }
  return { messages, bytes }
}
