import type { FrameTable } from './frame-table.js'

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
