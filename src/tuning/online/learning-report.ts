import { type Interval, medianInterval } from '../../base/search.js'
import type { Collective } from '../../schedule/specification.js'
import { bestNumber, type CellAxes } from '../models/decision-grid.js'
import type { NumberedSettings } from '../settings/setting.js'
import { callKey, type TuningCall } from '../settings/tuning-call.js'
import type { CallFile } from './call-file.js'
import { type CallGain, callGains, drawnSettings, nextProbabilities } from './call-gains.js'
import {
  type Blacklists,
  CallHistory,
  defaultNumber,
  medianRatioInterval,
  middleUs,
  type SizeTimes,
  type SlowSetting,
  slowSettings,
  type TotalRatio,
  timedCalls,
  timesBySize,
  totalRatio,
} from './call-history.js'
import { leftToDefault, type SelectionLogic, tuningLogic } from './grid-selection.js'
import { type GridLearning, type LearnedGrid, predictedCallUs, type TimedCall } from './learn-grid.js'

/** The progress of learning from runs. */
export interface LearningReport {
  readonly iterations: readonly ExploredIteration[]
  /** The recorded calls of all runs that explored. */
  readonly explored: TotalRatio
  /** The evaluations by model, oldest first; nothing is learned from them. */
  readonly evaluations: readonly (EvaluatedRuns & { readonly after: number })[]
  readonly collectives: readonly CollectiveReport[]
  /** The grids learned from all runs, for every collective of the table. */
  readonly grids: ReadonlyMap<Collective, LearnedGrid>
}

export interface ExploredIteration {
  readonly runs: number
  readonly calls: number
  /** The time of their recorded calls. */
  readonly cost: TotalRatio
}

export interface CollectiveReport {
  readonly collective: Collective
  readonly learned: LearnedGrid
  /** The settings, those with the most time first. */
  readonly settings: readonly SettingTime[]
  readonly slow: readonly SlowSetting[]
  /** The sizes with the most calls, at most {@link reportLimits}; below, the number of others. */
  readonly gains: readonly CallGain[]
  readonly moreSizes: number
  /** The trends of the first of these sizes, and of the call that is followed. */
  readonly trends: readonly CallTrend[]
}

/** The time of one setting in all runs that explored. */
interface SettingTime {
  readonly number: number
  readonly calls: number
  readonly totalUs: number
}

/** The most sizes of a collective, sizes that are followed, and iterations after which it is learned again. */
export const reportLimits = { sizes: 64, followed: 12, points: 20 } as const

/** The ratio to the fastest setting from which a report names a setting as slow. */
const slowFrom = 2

interface LearningReportOptions {
  readonly axes: CellAxes
  readonly learning: Omit<GridLearning, 'blacklist'>
  /** Returns the settings that are never chosen, by the runs so far. */
  readonly blacklists: (history: CallHistory) => Blacklists
  /** A call that is followed besides those with the most calls. It need not have taken place. */
  readonly call?: TuningCall
}

/**
 * Returns a report of what runs have explored, gained and will try next.
 *
 * Time: that of learning, at most 21 times.
 *
 * @param files in the order in which the runs took place
 * @param table of the settings of these runs
 */
export function learningReport(
  files: readonly CallFile[],
  table: NumberedSettings,
  { axes, learning, blacklists, call }: LearningReportOptions,
): LearningReport {
  const { iterations, evaluations, byDefault } = runSequence(files)
  const all = historyOfRuns(iterations.flat(), table)
  const sizes = new Map(table.collectives.map((name) => [name, timesBySize(name, all.of(name))]))
  const defaultTimes = timesByDefault(sizes, table)
  const logic = tuningLogic()
  const followed = [...sizes].flatMap(([name, of]) => followedCalls(name, of, table, call))
  const trends = learningTrend(iterations, table, followed, {
    ...{ axes, learning, blacklists, logic },
    mostPoints: reportLimits.points,
  })
  const grids = all.learn(axes, { ...learning, hasPerformances: true }, blacklists(all))
  return {
    grids,
    iterations: iterations.map((runs) => {
      const own = historyOfRuns(runs, table)
      const ofRuns = table.collectives.flatMap((name) => timesBySize(name, own.of(name)))
      return { runs: own.runs, calls: own.calls, cost: totalRatio(ofRuns, defaultTimes) }
    }),
    explored: totalRatio([...sizes.values()].flat(), defaultTimes),
    evaluations: evaluations.map(({ after, runs }) => ({
      after,
      ...evaluatedRuns(runs, byDefault, table, defaultTimes),
    })),
    collectives: table.collectives
      .filter((collective) => all.of(collective).length > 0 || collective === call?.collective)
      .map((collective): CollectiveReport => {
        const learned = grids.get(collective)!
        const gains = callGains(collective, learned, all.of(collective), logic)
        return {
          ...{ collective, learned, settings: settingTimes(all.of(collective)) },
          slow: slowSettings(sizes.get(collective)!, slowFrom),
          gains: gains.slice(0, reportLimits.sizes),
          moreSizes: Math.max(0, gains.length - reportLimits.sizes),
          trends: trends.filter((trend) => trend.call.collective === collective),
        }
      }),
  }
}

function historyOfRuns(files: readonly CallFile[], table: NumberedSettings): CallHistory {
  const history = new CallHistory(table)
  for (const file of files) history.add(file)
  return history
}

function timesByDefault(
  sizes: ReadonlyMap<Collective, readonly SizeTimes[]>,
  table: NumberedSettings,
): Map<string, readonly number[]> {
  const times = new Map<string, readonly number[]>()
  for (const [collective, ofCollective] of sizes) {
    const number = defaultNumber(table.of(collective))
    for (const { call, timesUs } of ofCollective) {
      const own = timesUs.get(number)
      if (own !== undefined) times.set(callKey(call), own)
    }
  }
  return times
}

/** Returns the calls with the most repetitions, and the one that is named. */
function followedCalls(
  collective: Collective,
  sizes: readonly SizeTimes[],
  table: NumberedSettings,
  named: TuningCall | undefined,
): FollowedCall[] {
  const drawn = drawnSettings(sizes, table.of(collective).length)
  const most = sizes.slice(0, reportLimits.followed).map(({ call }) => ({ call, drawn: drawn(call) }))
  if (named === undefined || collective !== named.collective || sizes.length === 0) return most
  const key = callKey(named)
  return most.some(({ call }) => callKey(call) === key)
    ? most
    : [...most, { call: named, drawn: drawn(named) }]
}

function settingTimes(timed: readonly TimedCall[]): SettingTime[] {
  const sums = new Map<number, { calls: number; totalUs: number }>()
  for (const { setting, timeUs } of timed) {
    const known = sums.get(setting)
    if (known === undefined) sums.set(setting, { calls: 1, totalUs: timeUs })
    else {
      known.calls++
      known.totalUs += timeUs
    }
  }
  return [...sums]
    .map(([number, { calls, totalUs }]) => ({ number, calls, totalUs }))
    .sort((a, b) => b.totalUs - a.totalUs)
}

/** A comparison of runs that used a model with runs by default. */
interface EvaluatedRuns {
  readonly runs: number
  readonly defaultRuns: number
  /**
   * The pairs of runs with the same calls, the first with the first, the second with the second. Below, the recorded
   * microseconds of both in all, medians over the pairs; NaN without a pair.
   */
  readonly pairs: number
  readonly tunedUs: number
  readonly defaultUs: number
  /** The median of the pairs' ratios, tuned over default. */
  readonly ratio: number
  /** An interval that holds it with at least 95%, whatever the distribution is; null for fewer than 6 pairs. */
  readonly interval: Interval | null
  /** The sizes, those with the most calls first. */
  readonly sizes: readonly EvaluatedSize[]
}

/** The calls of one size in runs that used a model. */
export interface EvaluatedSize {
  readonly call: TuningCall
  readonly calls: number
  readonly defaultCalls: number
  /** The runs that have the calls by default: those that evaluate or, if these have none, those that explored. */
  readonly defaultOf: 'evaluation' | 'exploring'
  /** The median microseconds; NaN without calls. */
  readonly tunedUs: number
  readonly defaultUs: number
  readonly ratio: number
  /** An interval that holds it with at least 95% if calls are independent; null for fewer than 7 calls of one kind. */
  readonly interval: Interval | null
}

/**
 * Returns the gains of a model in runs from which nothing is learned.
 *
 * @param exploredByDefault times of calls by default in runs that explored, by {@link callKey}
 */
function evaluatedRuns(
  tuned: readonly CallFile[],
  byDefault: readonly CallFile[],
  table: NumberedSettings,
  exploredByDefault: ReadonlyMap<string, readonly number[]>,
): EvaluatedRuns {
  const [own, others] = [tuned, byDefault].map((files) => files.map((file) => runCalls(file, table)))
  const pairs = pairedRuns(own, others)
  const ratios = pairs.map(([a, b]) => a.totalUs / b.totalUs)
  const defaultTimes = timesByKey(others)
  return {
    ...{ runs: tuned.length, defaultRuns: byDefault.length, pairs: pairs.length },
    tunedUs: middleUs(pairs.map(([run]) => run.totalUs)),
    defaultUs: middleUs(pairs.map(([, run]) => run.totalUs)),
    ...{ ratio: middleUs(ratios), interval: medianInterval(ratios) },
    sizes: allSizes(own).map(({ call, calls, timesUs }): EvaluatedSize => {
      const key = callKey(call)
      const evaluated = defaultTimes.get(key)
      const ofDefault = evaluated ?? exploredByDefault.get(key) ?? []
      const times = [...timesUs.values()].flat()
      const [tunedUs, defaultUs] = [middleUs(times), middleUs(ofDefault)]
      return {
        ...{ call, calls, defaultCalls: ofDefault.length, tunedUs, defaultUs, ratio: tunedUs / defaultUs },
        defaultOf: evaluated === undefined ? 'exploring' : 'evaluation',
        interval: medianRatioInterval(times, ofDefault),
      }
    }),
  }
}

interface RecordedRun {
  readonly timed: ReadonlyMap<Collective, readonly TimedCall[]>
  readonly totalUs: number
  /** A text that is equal for runs with the same calls in some order. */
  readonly signature: string
}

function runCalls(file: CallFile, table: NumberedSettings): RecordedRun {
  const { timed } = timedCalls(file, table)
  const sizes = allSizes([{ timed }])
  return {
    timed,
    totalUs: sizes.reduce((sum, { totalUs }) => sum + totalUs, 0),
    signature: sizes
      .map(({ call, calls }) => `${callKey(call)} ${calls}`)
      .sort()
      .join(),
  }
}

function allSizes(runs: readonly Pick<RecordedRun, 'timed'>[]) {
  const timed = new Map<Collective, TimedCall[]>()
  for (const run of runs)
    for (const [collective, calls] of run.timed) {
      const known = timed.get(collective) ?? []
      for (const call of calls) known.push(call)
      timed.set(collective, known)
    }
  return [...timed]
    .flatMap(([collective, calls]) => timesBySize(collective, calls))
    .sort((a, b) => b.calls - a.calls)
}

function timesByKey(runs: readonly RecordedRun[]): Map<string, readonly number[]> {
  return new Map(
    allSizes(runs).map(({ call, timesUs }) => [callKey(call), [...timesUs.values()].flat()] as const),
  )
}

function pairedRuns(
  tuned: readonly RecordedRun[],
  byDefault: readonly RecordedRun[],
): (readonly [RecordedRun, RecordedRun])[] {
  const waiting = new Map<string, RecordedRun[]>()
  for (const run of byDefault) {
    const ofSignature = waiting.get(run.signature)
    if (ofSignature === undefined) waiting.set(run.signature, [run])
    else ofSignature.push(run)
  }
  return tuned.flatMap((run) => {
    const partner = waiting.get(run.signature)?.shift()
    return partner === undefined ? [] : [[run, partner] as const]
  })
}

/** The runs that evaluate a model. */
interface ModelEvaluation {
  /** The number of iterations before it. */
  readonly after: number
  readonly runs: readonly CallFile[]
}

/** Runs by the model that they had. */
interface RunSequence {
  /** The runs that explored, those with one model together, in the order of their first runs. */
  readonly iterations: readonly (readonly CallFile[])[]
  /** The evaluations by model, in the order of their first runs. */
  readonly evaluations: readonly ModelEvaluation[]
  /** The runs in which every call was left to the default: of mode `default`, or `tuned` without a model. */
  readonly byDefault: readonly CallFile[]
}

/**
 * Orders runs by their models: a model that a run names was learned from all iterations before it.
 *
 * @param files in the order in which the runs took place
 * @see Steiner 2023 §5.4.3
 */
export function runSequence(files: Iterable<CallFile>): RunSequence {
  const iterations = new Map<string, CallFile[]>()
  const evaluations = new Map<string, { after: number; runs: CallFile[] }>()
  const byDefault: CallFile[] = []
  for (const file of files) {
    if (file.mode === 'tuning') {
      const runs = iterations.get(file.model)
      if (runs === undefined) iterations.set(file.model, [file])
      else runs.push(file)
    } else if (isByDefault(file)) byDefault.push(file)
    else {
      const known = evaluations.get(file.model)
      if (known === undefined) evaluations.set(file.model, { after: iterations.size, runs: [file] })
      else known.runs.push(file)
    }
  }
  const models = [...iterations.keys()]
  return {
    iterations: [...iterations.values()],
    evaluations: [...evaluations].map(([model, { after, runs }]) => {
      const place = models.indexOf(model)
      return { after: place < 0 ? after : place, runs }
    }),
    byDefault,
  }
}

function isByDefault({ mode, model, records }: CallFile): boolean {
  if (mode === 'default') return true
  if (model !== '') return false
  for (const own of records.values()) if (own.some(({ setting }) => setting !== leftToDefault)) return false
  return true
}

/** A call whose choice is followed. */
interface FollowedCall {
  readonly call: TuningCall
  /** The numbers of the settings that may serve it, ascending. */
  readonly drawn: readonly number[]
}

/** The knowledge about a call after some iterations. */
export interface TrendPoint {
  /** The number of iterations so far, from 1. */
  readonly after: number
  /** The number of calls of the collective from which this was learned. */
  readonly calls: number
  /** The number of the best setting; 0 if none is known. */
  readonly best: number
  /** The microseconds that its regressor predicts for the call; NaN if no setting is known. */
  readonly estimatedUs: number
  /** The probabilities of settings in the next runs that explore, by number. */
  readonly next: ReadonlyMap<number, number>
}

/** The choices for a call from iteration to iteration. */
export interface CallTrend {
  readonly call: TuningCall
  readonly points: readonly TrendPoint[]
}

interface TrendOptions {
  readonly axes: CellAxes
  readonly learning?: Omit<GridLearning, 'blacklist'>
  /** Returns the settings that are never chosen, by the runs so far. */
  readonly blacklists: (history: CallHistory) => Blacklists
  readonly logic: SelectionLogic
  /** The most iterations after which it is learned, evenly spaced among all; at least 2. */
  readonly mostPoints: number
}

/**
 * Learns again after each iteration, as the runs after it did.
 *
 * Time: that of learning, for each point.
 *
 * @see Steiner 2023 §5.4.3, fig. 5.10b
 */
function learningTrend(
  iterations: readonly (readonly CallFile[])[],
  table: NumberedSettings,
  followed: readonly FollowedCall[],
  { axes, learning = {}, blacklists, logic, mostPoints }: TrendOptions,
): CallTrend[] {
  const history = new CallHistory(table)
  const wanted = new Set(spacedPlaces(iterations.length, mostPoints))
  const points = new Map(followed.map(({ call }) => [callKey(call), [] as TrendPoint[]]))
  for (const [i, runs] of iterations.entries()) {
    for (const run of runs) history.add(run)
    if (!wanted.has(i)) continue
    const grids = history.learn(axes, { ...learning, hasPerformances: true }, blacklists(history))
    for (const { call, drawn } of followed) {
      const learned = grids.get(call.collective)!
      points.get(callKey(call))!.push({ after: i + 1, ...pointOf(learned, call, drawn, logic) })
    }
  }
  return followed.map(({ call }) => ({ call, points: points.get(callKey(call))! }))
}

function pointOf(
  learned: LearnedGrid,
  call: TuningCall,
  drawn: readonly number[],
  logic: SelectionLogic,
): Omit<TrendPoint, 'after'> {
  const { grid, regressors } = learned
  const { bytes, nodes, processesPerNode } = call
  const best = grid.isTrained ? bestNumber(grid, bytes, nodes, processesPerNode) : 0
  const regressor = regressors[best - 1]
  return {
    calls: learned.calls.reduce((sum, count) => sum + count, 0),
    best,
    estimatedUs:
      regressor === undefined ? Number.NaN : predictedCallUs(regressor, bytes, nodes, processesPerNode),
    next: nextProbabilities(learned, logic, call, drawn),
  }
}

/** Returns places 0 to `count - 1`, at most so many, evenly spaced with the first and the last. */
function spacedPlaces(count: number, most: number): number[] {
  if (count <= most) return Array.from({ length: count }, (_, i) => i)
  return Array.from({ length: most }, (_, i) => Math.round((i * (count - 1)) / (most - 1)))
}
