import type { Costs } from './costs.js'
import type { FrameTable } from './frame-table.js'
import type { QueueSearches } from './queue-searches.js'
import type { Activity } from './simulation.js'
import type { FramePaths } from './transport.js'

/** A run whose intervals are to be reported. */
export interface RunRecord {
  readonly frames: FrameTable
  readonly costs: Costs
  readonly paths: FramePaths
  readonly log: JobLog
  readonly eagerLimitBytes: number
  /** The searches; null if they take no time. */
  readonly searches: QueueSearches | null
}

/** Returns the time that a frame which has arrived takes its receiver before it is unpacked. */
export function receiveNs(costs: Costs, searches: QueueSearches | null, frame: number): number {
  const { receiveOverheadNs } = costs.messages[costs.level[frame]]
  return searches === null ? receiveOverheadNs : receiveOverheadNs + searches.searchNs(frame)
}

/**
 * A function that takes an interval of a job or a frame; the frame is -1 for other jobs. Empty intervals are left out.
 */
export type VisitInterval = (
  activity: Activity,
  process: number,
  peer: number,
  frame: number,
  startNs: number,
  endNs: number,
) => void

/** Visits the one or two intervals of a job, in order. */
export function forEachIntervalOfJob(
  record: RunRecord,
  process: number,
  job: number,
  visit: VisitInterval,
): void {
  const { frames, costs, log, searches } = record
  const { from, to, frameAt } = frames
  const start = log.startNs[job]
  const end = log.endNs[job]
  if (job < log.receives) {
    const packed = Math.min(end, start + costs.packNs[job])
    if (packed > start) visit('pack', process, -1, job, start, packed)
    if (end > packed) visit('send', process, to[job], job, packed, end)
  } else if (job < log.combinations) {
    const frame = frameAt[job - log.receives]
    const received = Math.min(end, start + receiveNs(costs, searches, frame))
    if (received > start) visit('receive', process, from[frame], frame, start, received)
    if (end > received) visit('unpack', process, -1, frame, received, end)
  } else if (end > start) visit(job < log.copies ? 'combine' : 'copy', process, -1, -1, start, end)
}

/** Visits the intervals of a frame between both processors, in order: all time behind other frames, then the rest. */
export function forEachIntervalOfFrame(record: RunRecord, frame: number, visit: VisitInterval): void {
  const { frames, paths, log } = record
  const { from, to, bytes } = frames
  const start = departureNs(record, frame)
  const end = log.arrivedNs[frame]
  let unloaded = paths.unloadedNs(frame)
  // A long frame is announced and cleared. If it waited for the receiver, only the clearing counts here.
  if (bytes[frame] > record.eagerLimitBytes)
    unloaded += (log.awaited[frame] === -1 ? 2 : 1) * paths.latencyNs(frame)
  const moving = end - start - unloaded > end * 1e-12 ? end - unloaded : start
  if (moving > start) visit('queue', from[frame], to[frame], frame, start, moving)
  if (end > moving) visit('transfer', from[frame], to[frame], frame, moving, end)
}

/** Returns the time at which a frame had its sender's and its receiver's permission to leave. */
function departureNs({ log }: RunRecord, frame: number): number {
  const awaited = log.awaited[frame]
  if (awaited === -1) return log.endNs[frame]
  return awaited >= 0 ? log.endNs[awaited] : log.arrivedNs[-2 - awaited]
}

/**
 * The jobs of every processor, their times and causes. Jobs are numbered: first the sends by frame, then the receives
 * by position, the combinations by process, and the copies of every process to slots.
 */
export interface JobLog {
  /** The numbers of the first receive, combination and copy, and of all jobs. */
  readonly receives: number
  readonly combinations: number
  readonly copies: number
  readonly jobs: number
  readonly startNs: Float64Array
  readonly endNs: Float64Array
  /** The job of the same processor before this one; -1 for the first. */
  readonly before: Int32Array
  /** The frame whose arrival ended the idle time before a job; -1 if the processor was busy until then. */
  readonly wokenBy: Int32Array
  /** The last job of every process; -1 if it has none. */
  readonly last: Int32Array
  /** The time at which a frame had arrived. */
  readonly arrivedNs: Float64Array
  /**
   * The event that a frame waited for after it was announced to its receiver; -1 if it did not wait. It is the job at
   * whose end the receiver was ready, or `-2 - f` for the arrival of frame f.
   */
  readonly awaited: Int32Array
}

export function emptyLog({ from, processes }: FrameTable, combinations: number): JobLog {
  const frames = from.length
  const jobs = 2 * frames + combinations + processes
  return {
    receives: frames,
    combinations: 2 * frames,
    copies: 2 * frames + combinations,
    jobs,
    startNs: new Float64Array(jobs),
    endNs: new Float64Array(jobs),
    before: new Int32Array(jobs).fill(-1),
    wokenBy: new Int32Array(jobs).fill(-1),
    last: new Int32Array(processes).fill(-1),
    arrivedNs: new Float64Array(frames),
    awaited: new Int32Array(frames).fill(-1),
  }
}
