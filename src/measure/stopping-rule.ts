import { type Interval, medianInterval } from '../base/median-interval.js'
import { largestOf, smallestOf } from '../base/search.js'
import { medianTime } from '../tuning/measured/measurement.js'

/** The rule that ends the repetitions of a point. */
export interface StoppingRule {
  /** The half width of the interval of the median that suffices, as a share of the median. */
  readonly precision: number
  /** The most repetitions of a point: 1 to 1,024. */
  readonly repetitions: number
  /**
   * The milliseconds that the repetitions of a point may take. Too few for an interval of their median may take four
   * times as long. There is at least one round.
   */
  readonly budgetMs: number
}

/** The time that a setting takes before the next one is due. */
const roundUs = 2000
const mostInRound = 32
const firstRound = 2
/** The number of budgets that a point may use until its median has an interval. */
const budgetsWithoutInterval = 4

/**
 * Returns whether a point needs no more repetitions.
 *
 * @param callUs with the barrier that separates repetitions, whose median is in every one
 * @param medianUs without it
 */
export function isEnough(
  rule: StoppingRule,
  callUs: readonly number[],
  medianUs: number,
  spentMs: number,
): boolean {
  if (callUs.length >= rule.repetitions) return true
  const interval = medianInterval(callUs)
  if (interval === null) return callUs.length > 0 && spentMs >= budgetsWithoutInterval * rule.budgetMs
  if (spentMs >= rule.budgetMs) return true
  return (interval[1] - interval[0]) / 2 <= rule.precision * medianUs
}

/** Returns the 95% confidence interval of the median of times, or the range of too few for that. */
export function timeInterval(timesUs: readonly number[]): Interval {
  return medianInterval(timesUs) ?? [smallestOf(timesUs), largestOf(timesUs)]
}

/**
 * Returns the repetitions of the next round of a setting. Long calls get few, so that settings alternate; short calls
 * get more, because they take less time than the start of a round.
 */
export function repetitionsOfRound(rule: StoppingRule, callUs: readonly number[]): number {
  const left = rule.repetitions - callUs.length
  if (callUs.length === 0) return Math.min(left, firstRound)
  return Math.min(left, mostInRound, Math.max(1, Math.ceil(roundUs / medianTime(callUs))))
}
