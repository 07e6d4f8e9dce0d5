import type { Collective } from '../../schedule/specification.js'
import type { CellAxes } from '../settings/call-cells.js'
import { callKey, type TuningCall } from '../settings/tuning-call.js'
import type { CallFile } from './call-file.js'
import { type CallGain, callGains } from './call-gains.js'
import { type EvaluatedRuns, evaluatedRuns } from './evaluated-runs.js'
import { tuningLogic } from './grid-selection.js'
import type { GridLearning, LearnedGrid, TimedCall } from './learn-grid.js'
import { CallHistory } from './learn-runs.js'
import { type CallTrend, type FollowedCall, learningTrend } from './learning-trend.js'
import type { NumberedSettings } from './numbered-settings.js'
import { runSequence } from './run-iterations.js'
import { defaultNumber, type SizeTimes, type TotalRatio, timesBySize, totalRatio } from './size-times.js'
import { type Blacklists, type SlowSetting, slowSettings } from './slow-settings.js'
import { drawnSettings } from './tried-settings.js'

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
export interface SettingTime {
  readonly number: number
  readonly calls: number
  readonly totalUs: number
}

/** The most sizes of a collective, sizes that are followed, and iterations after which it is learned again. */
export const reportLimits = { sizes: 64, followed: 12, points: 20 } as const

/** The ratio to the fastest setting from which a report names a setting as slow. */
const slowFrom = 2

export interface LearningReportOptions {
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
