import type { Collective } from '../../schedule/specification.js'
import type { MeasurementSource } from '../measured/measurement.js'
import type { TuningFile } from '../models/tuning-file.js'
import type { TuningSetting } from '../settings/setting.js'

/** The collectives whose calls online tuning chooses and records. */
export const onlineCollectives: readonly Collective[] = ['allreduce', 'bcast', 'allgather', 'alltoall']

/** The lengths of segments among which online tuning chooses; 0 stands for whole data. */
export const onlineSegments = [0, 2 ** 10, 2 ** 16, 2 ** 20] as const

/** The modes: `tuning` explores and is learned from, `tuned` takes the best and evaluates. */
export const onlineModes = ['tuning', 'tuned'] as const

export type OnlineMode = (typeof onlineModes)[number]

/** The tuning of a world's calls, the same in all its processes. Plain data. */
export interface OnlineOptions {
  readonly mode: OnlineMode
  /** The seed, 0 to 2^32 - 1. */
  readonly seed: number
  /**
   * The number of calls that are chosen and recorded, 1 to 2^20: the first ones of the world. A communicator that is
   * made from another gets half of the calls that this has left, so a rank has no more in all.
   */
  readonly calls: number
  /** The number of processes that record: those below it. */
  readonly measured: number
  /** The settings that a run may choose, numbered by collective. */
  readonly settings: readonly TuningSetting[]
  /** The source that the run states in its file. */
  readonly source: MeasurementSource
  /** The folder in which the process of rank 0 writes that file. */
  readonly folder: string
  /** The learned model; absent in the first runs. */
  readonly model?: TuningFile
}

export const onlineLimits = { calls: 2 ** 20, defaultCalls: 1000 } as const
