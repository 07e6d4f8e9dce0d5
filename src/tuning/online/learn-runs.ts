import type { Collective } from '../../schedule/specification.js'
import { emptyGrid } from '../models/decision-grid.js'
import type { CellAxes } from '../settings/call-cells.js'
import type { TuningSetting } from '../settings/setting.js'
import type { CallFile } from './call-file.js'
import { type GridLearning, type LearnedGrid, learnGrid, type TimedCall } from './learn-grid.js'
import { NumberedSettings } from './numbered-settings.js'
import { timedCalls } from './timed-calls.js'

/**
 * The calls of all runs so far, by collective, from which an iteration learns. Runs of other modes than `tuning` only
 * evaluate.
 *
 * Memory: about 100 bytes a call.
 *
 * @see Steiner 2023 §4.1.2, §5.4.3
 */
export class CallHistory {
  readonly table: NumberedSettings
  readonly #timed = new Map<Collective, TimedCall[]>()
  #runs = 0
  #skipped = 0

  constructor(table: NumberedSettings) {
    this.table = table
  }

  /** The number of runs from which it learned. */
  get runs(): number {
    return this.#runs
  }

  /** The number of calls whose setting the table does not have. */
  get skipped(): number {
    return this.#skipped
  }

  /** The number of calls from which it learned. */
  get calls(): number {
    let calls = 0
    for (const timed of this.#timed.values()) calls += timed.length
    return calls
  }

  /** @returns whether the run is one to learn from */
  add(file: CallFile): boolean {
    if (file.mode !== 'tuning') return false
    const { timed, skipped } = timedCalls(file, this.table)
    this.#runs++
    this.#skipped += skipped
    for (const [collective, calls] of timed) {
      const known = this.#timed.get(collective)
      if (known === undefined) this.#timed.set(collective, [...calls])
      else for (const call of calls) known.push(call)
    }
    return true
  }

  of(collective: Collective): readonly TimedCall[] {
    return this.#timed.get(collective) ?? []
  }

  /**
   * Returns a grid for every collective of the table.
   *
   * @param blacklists numbers of the settings of a collective that are never chosen
   */
  learn(
    axes: CellAxes,
    learning: Omit<GridLearning, 'blacklist'> = {},
    blacklists: ReadonlyMap<Collective, ReadonlySet<number>> = new Map(),
  ): ReadonlyMap<Collective, LearnedGrid> {
    return new Map(
      this.table.collectives.map((collective) => {
        const blacklist = blacklists.get(collective) ?? new Set<number>()
        const settings = this.table.of(collective)
        return [collective, learnGrid(settings, axes, this.of(collective), { ...learning, blacklist })]
      }),
    )
  }
}

/** Returns the settings of all runs, those of the first run first: further runs change no number. */
export function settingsOfRuns(files: Iterable<CallFile>): NumberedSettings {
  const settings = new Map<string, TuningSetting>()
  for (const file of files)
    for (const setting of file.settings)
      settings.set(JSON.stringify([setting.collective, setting.algorithm, setting.parameters]), setting)
  return new NumberedSettings(settings.values())
}

/** Returns grids before anything was learned. */
export function emptyGrids(table: NumberedSettings, axes: CellAxes): ReadonlyMap<Collective, LearnedGrid> {
  return new Map(
    table.collectives.map((collective) => {
      const settings = table.of(collective)
      const calls = new Int32Array(settings.length)
      return [
        collective,
        { grid: emptyGrid(settings, axes), calls, regressors: settings.map(() => undefined) },
      ]
    }),
  )
}
