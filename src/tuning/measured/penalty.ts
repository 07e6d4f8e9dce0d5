import { largestOf, meanOf, quantile, smallestOf } from '../../base/search.js'
import type { TuningCall } from '../settings/tuning-call.js'
import { bestEntry, entryOf, type MeasuredData } from './measured-data.js'
import type { SettingSelector } from './selector.js'

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
