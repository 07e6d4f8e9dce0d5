import { largestOf, meanOf, quantile, smallestOf } from '../../base/search.js'
import { RankweaveError, wrongValue } from '../../errors.js'
import { callProcesses, type TuningCall } from '../settings/tuning-call.js'
import { bestEntry, entryOf, type MeasuredData, type SettingSelector, selectCalls } from './measured-data.js'

/**
 * The penalty of decisions against the best measured setting of each call, in percent of its time: 0 if they choose it.
 *
 * @see Pjesivac-Grbovic 2007 §5.1
 */
export interface PenaltyReport {
  /** The number of calls whose chosen setting was measured; the figures are over these. */
  readonly calls: number
  /** The number of calls without a decision, or whose chosen setting has no time. They are in no figure. */
  readonly missing: number
  /** The least penalty; NaN over no calls, as all figures. */
  readonly minPercent: number
  readonly meanPercent: number
  readonly medianPercent: number
  readonly maxPercent: number
  /** The call with the greatest penalty; null without calls. */
  readonly worst: TuningCall | null
}

/**
 * Returns the penalty of decisions over all calls of a data set.
 *
 * @param fallback decides when the chosen setting has no time, for example because it cannot serve the call. Default:
 *   the call counts as missing.
 */
export function penaltyOf(
  data: MeasuredData,
  select: SettingSelector,
  fallback?: SettingSelector,
): PenaltyReport {
  const rows = [...data.calls.keys()]
  const percents = rows.map((row) => penaltyOfRow(data, row, select, fallback))
  return penaltyReport(data, rows, percents)
}

/** Returns the report of the penalties of these rows of a data set; NaN stands for a missing penalty. */
function penaltyReport(
  { calls }: MeasuredData,
  rows: readonly number[],
  percents: readonly number[],
): PenaltyReport {
  const known = percents.filter((percent) => !Number.isNaN(percent)).sort((a, b) => a - b)
  const missing = percents.length - known.length
  if (known.length === 0) {
    const figures = { minPercent: NaN, meanPercent: NaN, medianPercent: NaN, maxPercent: NaN }
    return { calls: 0, missing, ...figures, worst: null }
  }
  const maxPercent = largestOf(known)
  return {
    calls: known.length,
    missing,
    minPercent: smallestOf(known),
    meanPercent: meanOf(known),
    medianPercent: quantile(known, 0.5),
    maxPercent,
    worst: calls[rows[percents.indexOf(maxPercent)]],
  }
}

/** Returns percent; NaN if neither decision has a time. */
export function penaltyOfRow(
  data: MeasuredData,
  row: number,
  select: SettingSelector,
  fallback: SettingSelector = () => -1,
): number {
  const call = data.calls[row]
  let entry = entryOf(data, row, select(call))
  if (entry < 0) entry = entryOf(data, row, fallback(call))
  if (entry < 0) return Number.NaN
  const bestUs = data.timeUs[bestEntry(data, row)]
  return ((data.timeUs[entry] - bestUs) / bestUs) * 100
}

/** A function that learns decisions from a data set. */
type DecisionLearner = (data: MeasuredData) => SettingSelector

interface HeldOutOptions {
  /**
   * The number of parts of the numbers of processes, 2 to their number. Default: 5, or as many as there are numbers.
   */
  readonly folds?: number
  /** Decides when the chosen setting has no time. Default: the call counts as missing. */
  readonly fallback?: SettingSelector
}

export interface HeldOutReport {
  /** The penalty of decisions learned from all data, on the same data, which the source reports. */
  readonly training: PenaltyReport
  /** The penalty of decisions for every call, learned without its number of processes. */
  readonly heldOut: PenaltyReport
  readonly folds: readonly HeldOutFold[]
}

interface HeldOutFold {
  /** The numbers of processes that were held out, ascending. */
  readonly processes: readonly number[]
  readonly training: PenaltyReport
  readonly heldOut: PenaltyReport
}

/**
 * Compares the penalty of decisions on calls from which they were not learned with that on calls from which they were.
 *
 * The i-th number of processes, ascending from 0, belongs to fold i mod folds. So neighbors are in different folds, and
 * the least and the greatest number test what lies outside the grid.
 *
 * @throws ERR_TUNING for fewer than 2 numbers of processes
 * @throws ERR_ARGUMENT for folds out of range
 */
export function heldOutPenalty(
  data: MeasuredData,
  learn: DecisionLearner,
  options: HeldOutOptions = {},
): HeldOutReport {
  const counts = [...new Set(data.calls.map(callProcesses))].sort((a, b) => a - b)
  if (counts.length < 2) {
    const message = `expected calls of at least 2 numbers of processes, got ${counts.length}`
    throw new RankweaveError('ERR_TUNING', message)
  }
  const { folds = Math.min(defaultFolds, counts.length), fallback } = options
  if (!Number.isInteger(folds) || folds < 2 || folds > counts.length)
    throw wrongValue('ERR_ARGUMENT', `expected folds as an integer from 2 to ${counts.length}`, folds)
  const foldOf = new Map(counts.map((count, i) => [count, i % folds]))
  const percents = data.calls.map(() => Number.NaN)
  const reports = Array.from({ length: folds }, (_, fold): HeldOutFold => {
    const training = selectCalls(data, (call) => foldOf.get(callProcesses(call)) !== fold)
    const select = learn(training)
    const rows = [...data.calls.keys()].filter((row) => foldOf.get(callProcesses(data.calls[row])) === fold)
    for (const row of rows) percents[row] = penaltyOfRow(data, row, select, fallback)
    return {
      processes: counts.filter((count) => foldOf.get(count) === fold),
      training: penaltyOf(training, select, fallback),
      heldOut: penaltyReport(
        data,
        rows,
        rows.map((row) => percents[row]),
      ),
    }
  })
  return {
    training: penaltyOf(data, learn(data), fallback),
    heldOut: penaltyReport(data, [...data.calls.keys()], percents),
    folds: reports,
  }
}

const defaultFolds = 5
