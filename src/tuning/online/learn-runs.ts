import type { Collective } from '../../schedule/specification.js'
import { emptyGrid } from '../models/decision-grid.js'
import type { CellAxes } from '../settings/call-cells.js'
import { NumberedSettings, type TuningSetting } from '../settings/setting.js'
import type { CallFile } from './call-file.js'
import type { CallRecord } from './call-records.js'
import { type GridLearning, type LearnedGrid, learnGrid, type TimedCall } from './learn-grid.js'
import { defaultNumber, middleUs, type SizeTimes, timesBySize } from './size-times.js'

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

/** The calls of one run by collective, and the number of those that could not be used. */
interface RunCalls {
  readonly timed: ReadonlyMap<Collective, readonly TimedCall[]>
  /** The number of calls whose setting is not in the table, or by the default if the table has none. */
  readonly skipped: number
}

/**
 * Returns the calls of a run. The time of a call is the longest that one of its measured processes spent in it, so
 * clocks of two processes are never compared. A call that was left to the default counts as one by it.
 *
 * @param table whose numbers the result has; settings are found by their content, not by the numbers of the run
 * @see Steiner 2023 §4.3
 */
export function timedCalls(file: CallFile, table: NumberedSettings): RunCalls {
  const places = new Map(file.communicators.map((communicator) => [communicator.id, communicator]))
  const calls = new Map<string, { record: CallRecord; timeUs: number }>()
  for (const records of file.records.values())
    for (const record of records) {
      const key = `${record.communicator} ${record.call}`
      const timeUs = record.endUs - record.startUs
      const known = calls.get(key)
      if (known === undefined) calls.set(key, { record, timeUs })
      else known.timeUs = Math.max(known.timeUs, timeUs)
    }
  const numberOf = numbersIn(file, table)
  const timed = new Map<Collective, TimedCall[]>()
  let skipped = 0
  for (const { record, timeUs } of calls.values()) {
    const place = places.get(record.communicator)
    const setting = numberOf(record)
    if (place === undefined || setting === 0) {
      skipped++
      continue
    }
    const { nodes, processesPerNode } = place
    const ofCollective = timed.get(record.collective) ?? []
    ofCollective.push({ setting, bytes: record.bytes, nodes, processesPerNode, timeUs })
    timed.set(record.collective, ofCollective)
  }
  return { timed, skipped }
}

/** Returns a function from the numbers of a run to those of a table. */
function numbersIn(file: CallFile, table: NumberedSettings): (record: CallRecord) => number {
  const lines = new Map<Collective, number[]>()
  for (const setting of file.settings) {
    const ofCollective = lines.get(setting.collective) ?? []
    ofCollective.push(table.numberOf(setting))
    lines.set(setting.collective, ofCollective)
  }
  return ({ collective, setting }) =>
    setting === 0 ? defaultNumber(table.of(collective)) : (lines.get(collective)?.[setting - 1] ?? 0)
}

/** The number of calls of one size that a setting needs to be compared with others. */
const leastCompared = 7

/** Returns the setting with the least median of those that are compared; 0 and NaN without any. */
export function fastestOf(size: SizeTimes): { readonly fastest: number; readonly fastestUs: number } {
  let [fastest, fastestUs] = [0, Number.NaN]
  for (const [number, medianUs] of comparedMedians(size))
    if (!(medianUs >= fastestUs)) [fastest, fastestUs] = [number, medianUs]
  return { fastest, fastestUs }
}

function comparedMedians({ timesUs }: SizeTimes): (readonly [number: number, medianUs: number])[] {
  return [...timesUs]
    .filter(([, times]) => times.length >= leastCompared)
    .map(([number, times]) => [number, middleUs(times)])
}

/** A setting that was far from the fastest in every size in which it was compared. */
export interface SlowSetting {
  readonly number: number
  /** Its median over that of the fastest setting, in the size where it does best. */
  readonly leastRatio: number
  /** The number of sizes in which it has at least 7 calls. */
  readonly sizes: number
}

/**
 * Returns settings that took at least `factor` times the fastest one in every size in which they are compared, slowest
 * first: candidates for a blacklist.
 *
 * @see Steiner 2023 §4.7
 */
export function slowSettings(sizes: Iterable<SizeTimes>, factor: number): SlowSetting[] {
  const found = new Map<number, { leastRatio: number; sizes: number }>()
  for (const size of sizes) {
    const medians = comparedMedians(size)
    const { fastestUs } = fastestOf(size)
    for (const [number, medianUs] of medians) {
      const known = found.get(number) ?? { leastRatio: Number.POSITIVE_INFINITY, sizes: 0 }
      const leastRatio = Math.min(known.leastRatio, medianUs / fastestUs)
      found.set(number, { leastRatio, sizes: known.sizes + 1 })
    }
  }
  return [...found]
    .map(([number, figures]) => ({ number, ...figures }))
    .filter(({ leastRatio }) => leastRatio >= factor)
    .sort((a, b) => b.leastRatio - a.leastRatio)
}

/** The numbers of settings that are never chosen, by collective. */
export type Blacklists = ReadonlyMap<Collective, ReadonlySet<number>>

/** Returns blacklists with the settings that are slow in the calls so far; without `factor`, the given blacklists. */
export function withSlowSettings(
  history: CallHistory,
  named: Blacklists,
  factor: number | undefined,
): Blacklists {
  if (factor === undefined) return named
  return new Map(
    history.table.collectives.map((collective) => {
      const slow = slowSettings(timesBySize(collective, history.of(collective)), factor)
      return [collective, new Set([...(named.get(collective) ?? []), ...slow.map(({ number }) => number)])]
    }),
  )
}
