import type { Collective } from '../../schedule/specification.js'
import type { MeasurementSource } from '../measured/measurement.js'
import { cellAxes, emptyGrid, type OpenGrid, openGrid } from '../models/decision-grid.js'
import { isGrid, type TuningFile } from '../models/tuning-file.js'
import { NumberedSettings, type TuningSetting } from '../settings/setting.js'
import { CallTimes } from './call-records.js'
import { type SelectionLogic, tunedLogic, tuningLogic } from './grid-selection.js'

/** A communicator whose calls one process has recorded. */
export interface OnlineCommunicator {
  /** The name, alike on all members. */
  readonly key: number
  readonly nodes: number
  /** The processes on the node with most. */
  readonly processesPerNode: number
  readonly processes: number
}

/**
 * Online tuning of one process, over all of its communicators: the learned grids, and the records.
 *
 * Memory: 32 bytes for each of `calls`, and the model.
 */
export class OnlineProcess {
  readonly options: OnlineOptions
  readonly table: NumberedSettings
  readonly logic: SelectionLogic
  readonly records: CallTimes
  readonly communicators: OnlineCommunicator[] = []
  readonly #grids = new Map<Collective, OpenGrid>()
  /** The calls that communicators to come may choose, by their parent and the call that makes them. */
  readonly #grants = new Map<string, number>()

  constructor(options: OnlineOptions, process: number) {
    this.options = options
    this.table = new NumberedSettings(options.settings)
    this.logic = options.mode === 'tuned' ? tunedLogic : tuningLogic()
    this.records = new CallTimes(process < options.measured ? options.calls : 0)
  }

  /** @returns its place in records */
  add(communicator: OnlineCommunicator): number {
    return this.communicators.push(communicator) - 1
  }

  grid(collective: Collective): OpenGrid {
    let grid = this.#grids.get(collective)
    if (grid === undefined) {
      const learned = this.options.model?.decisions[collective]
      grid =
        learned !== undefined && isGrid(learned)
          ? openGrid(collective, learned)
          : emptyGrid(this.table.of(collective), anyAxes)
      this.#grids.set(collective, grid)
    }
    return grid
  }

  /** Reserves calls for the communicator that call `seq` on a communicator makes. All members reserve alike. */
  grant(parent: number, seq: number, calls: number): void {
    if (calls > 0) this.#grants.set(`${parent} ${seq}`, calls)
  }

  granted(parent: number, seq: number): number {
    return this.#grants.get(`${parent} ${seq}`) ?? 0
  }
}

/** The axes of a grid that has no decision in any cell. */
const anyAxes = cellAxes({ nodes: 1, processesPerNode: 1 })

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
