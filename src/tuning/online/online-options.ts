import type { Collective } from '../../schedule/specification.js'
import type { MeasurementSource } from '../measured/measurement.js'
import type { TuningFile } from '../models/tuning-file.js'
import type { TuningSetting } from '../settings/setting.js'

/** Collectives whose calls are chosen and recorded by online tuning. */
export const onlineCollectives: readonly Collective[] = ['allreduce', 'bcast', 'allgather', 'alltoall']

/** Lengths of segments among which online tuning chooses; 0 stands for whole data. */
export const onlineSegments = [0, 2 ** 10, 2 ** 16, 2 ** 20] as const

/** `tuning` explores and is learned from, `tuned` takes the best and evaluates. */
export const onlineModes = ['tuning', 'tuned'] as const

export type OnlineMode = (typeof onlineModes)[number]

/** How a world tunes its calls, the same in all its processes. Plain data. */
export interface OnlineOptions {
  readonly mode: OnlineMode
  /** 0 to 2^32 - 1. */
  readonly seed: number
  /**
   * Calls that are chosen and recorded, 1 to 2^20: the first ones of the world. A communicator that is made from another
   * one gets half of what that has left at this moment, so a rank has no more in all.
   */
  readonly calls: number
  /** The processes below this number record. */
  readonly measured: number
  /** Those that a run may choose, numbered by collective. */
  readonly settings: readonly TuningSetting[]
  /** What the run states of itself in its file. */
  readonly source: MeasurementSource
  /** Where the process of rank 0 writes that file. */
  readonly folder: string
  /** What was learned; absent in the first runs. */
  readonly model?: TuningFile
}

export const onlineLimits = { calls: 2 ** 20, defaultCalls: 1000 } as const
