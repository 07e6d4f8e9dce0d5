import { requireKnownOptions } from '../../base/known-options.js'
import { type OptionTable, uncheckedOptions } from '../../base/option.js'
import { shown } from '../../errors.js'
import { checkMachine } from '../../machine/check-machine.js'
import type { Machine } from '../../machine/machine.js'
import { profileOf } from '../../machine/network.js'
import type { Schedule } from '../../schedule/ir.js'
import type { LoweredSchedule } from '../../schedule/lower/program.js'
import { entriesByRow, rowStarts } from '../../topology/compressed-rows.js'
import { type RunRecord, type Tell, tellFrame, tellJob } from './activities.js'
import { type BytesOf, failSimulation } from './block-lengths.js'
import { costsOf, placesOf } from './costs.js'
import { frameTable } from './frame-table.js'
import { loweredSource } from './lowered-source.js'
import type { FrameStart } from './run.js'
import { runOnMachine } from './run-on-machine.js'
import { type Activity, activities, type PathStep, type Simulation, type Timeline } from './simulation.js'
import { trafficOf } from './traffic.js'

function timelineOf(record: RunRecord, rankOf: Int32Array): Timeline {
  let count = 0
  tellAll(record, () => count++)
  const rank = new Int32Array(count)
  const activity = new Uint8Array(count)
  const peer = new Int32Array(count)
  const message = new Int32Array(count)
  const bytes = new Float64Array(count)
  const startUs = new Float64Array(count)
  const endUs = new Float64Array(count)
  let at = 0
  tellAll(record, (what, process, other, frame, startNs, endNs) => {
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

function tellAll(record: RunRecord, tell: Tell): void {
  const { frames, log } = record
  for (let process = 0; process < frames.processes; process++) {
    for (let job = log.last[process]; job !== -1; job = log.before[job]) {
      tellJob(record, process, job, tell)
      const frame = log.wokenBy[job]
      if (frame === -1) continue
      const before = log.before[job]
      const idleSince = before === -1 ? 0 : log.endNs[before]
      const other = frames.from[frame] === process ? frames.to[frame] : frames.from[frame]
      if (log.startNs[job] > idleSince) tell('wait', process, other, frame, idleSince, log.startNs[job])
    }
  }
  for (let frame = 0; frame < frames.from.length; frame++) tellFrame(record, frame, tell)
}

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
  const record = runOnMachine(machine, places, frames, costs, lowered.programs, progress, limitNs)
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

/**
 * Returns the steps that determined the end of a process, from its last job back. The step before a job is the job of
 * the same processor before it or, if the processor was idle, the frame that ended the idle time.
 */
function criticalPath(record: RunRecord, process: number, rankOf: Int32Array): PathStep[] {
  const { log, frames } = record
  const steps: PathStep[] = []
  let told: PathStep[] = []
  const tell: Tell = (activity, by, other, _frame, startNs, endNs) => {
    const peer = other === -1 ? -1 : rankOf[other]
    told.push({ activity, rank: rankOf[by], peer, startUs: startNs / 1000, endUs: endNs / 1000 })
  }
  /** The path is built backwards, so later intervals come first. */
  const append = (): void => {
    while (told.length > 0) steps.push(told.pop()!)
    told = []
  }
  let at = process
  let job = log.last[process]
  while (job !== -1) {
    tellJob(record, at, job, tell)
    append()
    let frame = log.wokenBy[job]
    if (frame === -1) {
      job = log.before[job]
      continue
    }
    for (;;) {
      tellFrame(record, frame, tell)
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
