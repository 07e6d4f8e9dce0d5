import { requireKnownOptions } from '../../base/known-options.js'
import { type OptionTable, uncheckedOptions } from '../../base/option.js'
import { shown } from '../../errors.js'
import { checkMachine } from '../../machine/check-machine.js'
import type { Machine } from '../../machine/machine.js'
import { profileOf } from '../../machine/network.js'
import type { Schedule } from '../../schedule/ir.js'
import type { LoweredSchedule } from '../../schedule/lower/program.js'
import type { RunRecord } from './activities.js'
import { type BytesOf, failSimulation } from './block-lengths.js'
import { costsOf, placesOf } from './costs.js'
import { criticalPath } from './critical-path.js'
import { frameTable } from './frame-table.js'
import { loweredSource } from './lowered-source.js'
import type { FrameStart } from './run.js'
import { runOnMachine } from './run-on-machine.js'
import type { Simulation } from './simulation.js'
import { timelineOf } from './timeline.js'
import { trafficOf } from './traffic.js'

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
