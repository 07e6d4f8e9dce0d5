import { largestOf, meanOf, quantile, smallestOf } from '../../base/search.js'
import type { TuningCall } from '../settings/tuning-call.js'
import { bestEntry, entryOf, type MeasuredData } from './measured-data.js'
import type { SettingSelector } from './selector.js'

/**
 * What decisions lose against the best measured setting of each call, in percent of its time: 0 where they
 * choose it.
 *
 * @see Pjesivac-Grbovic 2007 §5.1
 */
export interface PenaltyReport {
  /** Calls whose chosen setting was measured: those that the figures are of. */
  readonly calls: number
  /** Calls whose chosen setting has no time, or that have no decision. They are in no figure. */
  readonly missing: number
  /** NaN of no calls, as all figures. */
  readonly minPercent: number
  readonly meanPercent: number
  readonly medianPercent: number
  readonly maxPercent: number
  /** Where the maximum is; null of no calls. */
  readonly worst: TuningCall | null
}

/**
 * The penalty of decisions over all calls of a data set.
 *
 * @param fallback decides where the chosen setting has no time, as where it cannot serve the call. Default: the
 *   call counts as missing.
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

/** The report of penalties that are known, NaN for those that are missing, of these rows of a data set. */
export function penaltyReport(
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

/** Percent; NaN where neither decision has a time. */
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
