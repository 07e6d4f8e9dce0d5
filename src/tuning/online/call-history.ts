import { type Interval, medianInterval } from '../../base/search.js'
import type { Collective } from '../../schedule/specification.js'
import { type CellAxes, emptyGrid } from '../models/decision-grid.js'
import { defaultAlgorithm, NumberedSettings, type TuningSetting } from '../settings/setting.js'
import { callKey, type TuningCall } from '../settings/tuning-call.js'
import type { CallFile } from './call-file.js'
import type { CallRecord } from './call-records.js'
import { type GridLearning, type LearnedGrid, learnGrid, type TimedCall } from './learn-grid.js'

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

/** The calls of one size that took place. */
export interface SizeTimes {
  readonly call: TuningCall
  readonly calls: number
  /** The microseconds of all of them together. */
  readonly totalUs: number
  /** The microseconds by number of the setting, in the order of the calls. */
  readonly timesUs: ReadonlyMap<number, readonly number[]>
}

/** Returns calls of a collective by size, those with the most calls first. */
export function timesBySize(collective: Collective, timed: Iterable<TimedCall>): SizeTimes[] {
  const sizes = new Map<
    string,
    { call: TuningCall; calls: number; totalUs: number; timesUs: Map<number, number[]> }
  >()
  for (const { setting, bytes, nodes, processesPerNode, timeUs } of timed) {
    const call = { collective, bytes, nodes, processesPerNode }
    const key = callKey(call)
    let size = sizes.get(key)
    if (size === undefined) {
      size = { call, calls: 0, totalUs: 0, timesUs: new Map() }
      sizes.set(key, size)
    }
    size.calls++
    size.totalUs += timeUs
    const known = size.timesUs.get(setting)
    if (known === undefined) size.timesUs.set(setting, [timeUs])
    else known.push(timeUs)
  }
  return [...sizes.values()].sort((a, b) => b.calls - a.calls)
}

/** Returns the number of the default among the settings of a collective; 0 if it is not among them. */
export function defaultNumber(settings: readonly TuningSetting[]): number {
  return settings.findIndex(({ algorithm }) => algorithm === defaultAlgorithm) + 1
}

/** Returns the middle value, or the mean of both; NaN for none. */
export function middleUs(timesUs: readonly number[]): number {
  if (timesUs.length === 0) return Number.NaN
  const ascending = timesUs.toSorted((a, b) => a - b)
  const middle = timesUs.length >> 1
  return timesUs.length % 2 === 1 ? ascending[middle] : (ascending[middle - 1] + ascending[middle]) / 2
}

/**
 * Returns an interval that holds the ratio of two medians with at least 95%, if calls are independent. Each median lies
 * in its own interval with 97.5%, so both do with 95%.
 *
 * @returns null for fewer than 7 times on one side
 */
export function medianRatioInterval(above: readonly number[], below: readonly number[]): Interval | null {
  const [ofAbove, ofBelow] = [medianInterval(above, 0.025), medianInterval(below, 0.025)]
  return ofAbove === null || ofBelow === null ? null : [ofAbove[0] / ofBelow[1], ofAbove[1] / ofBelow[0]]
}

/** The total time of some calls, compared with as many calls by default of the same sizes. */
export interface TotalRatio {
  /** The number of calls of sizes that have at least 7 calls by default. */
  readonly calls: number
  /** The microseconds of these calls; below, those that they are expected to take by default. */
  readonly totalUs: number
  readonly defaultUs: number
  /** The first over the second; NaN without calls. */
  readonly ratio: number
  /** An interval of about 95%, by the normal approximation of the logarithm; null without calls. */
  readonly interval: Interval | null
}

/** The number of times by default that a size needs. */
const leastByDefault = 7

/** The 97.5% point of the normal distribution. */
const twoSided95 = 1.959964

/**
 * Compares totals: every size counts as often as it was called. A call by default is expected to take the mean of its
 * size.
 *
 * @param byDefault times of calls by default, by {@link callKey}
 */
export function totalRatio(
  sizes: Iterable<SizeTimes>,
  byDefault: ReadonlyMap<string, readonly number[]>,
): TotalRatio {
  const sums = { calls: 0, totalUs: 0, defaultUs: 0, totalVariance: 0, defaultVariance: 0 }
  for (const { call, calls, totalUs, timesUs } of sizes) {
    const times = byDefault.get(callKey(call)) ?? []
    if (times.length < leastByDefault) continue
    const ofDefault = meanAndVariance(times)
    sums.calls += calls
    sums.totalUs += totalUs
    sums.defaultUs += calls * ofDefault.mean
    sums.defaultVariance += (calls ** 2 * ofDefault.variance) / times.length
    for (const ofSetting of timesUs.values())
      if (ofSetting.length > 1) sums.totalVariance += ofSetting.length * meanAndVariance(ofSetting).variance
  }
  const { calls, totalUs, defaultUs } = sums
  const ratio = totalUs / defaultUs
  if (calls === 0 || !(ratio > 0)) return { calls, totalUs, defaultUs, ratio: Number.NaN, interval: null }
  const spread = Math.sqrt(sums.totalVariance / totalUs ** 2 + sums.defaultVariance / defaultUs ** 2)
  const factor = Math.exp(twoSided95 * spread)
  return { calls, totalUs, defaultUs, ratio, interval: [ratio / factor, ratio * factor] }
}

function meanAndVariance(values: readonly number[]): { mean: number; variance: number } {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0)
  return { mean, variance: squares / (values.length - 1) }
}
