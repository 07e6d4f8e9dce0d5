import type { Collective } from '../../schedule/specification.js'
import { emptyGrid, type OpenGrid, openGrid } from '../models/decision-grid.js'
import { isGrid } from '../models/tree-or-grid.js'
import { cellAxes } from '../settings/call-cells.js'
import { CallTimes } from './call-records.js'
import { type SelectionLogic, tunedLogic, tuningLogic } from './grid-selection.js'
import { NumberedSettings } from './numbered-settings.js'
import type { OnlineOptions } from './online-options.js'

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
