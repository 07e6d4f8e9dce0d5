import { type Interval, medianInterval } from '../base/median-interval.js'
import { largestOf, smallestOf } from '../base/search.js'
import { medianTime } from '../tuning/measured/median-time.js'

/** How long a point is repeated. */
export interface StoppingRule {
  /** The half width of the interval of the median that suffices, as a share of the median. */
  readonly precision: number
  /** Of a point, at most: 1 to 1,024. */
  readonly repetitions: number
  /**
   * Milliseconds that the repetitions of a point may take: so few that their median has no interval may take four times
   * as long. At least one round.
   */
  readonly budgetMs: number
}

/** What a setting takes at a time before the next one is due. */
const roundUs = 2000
const mostInRound = 32
const firstRound = 2
/** How many budgets a point may use until its median has an interval. */
const budgetsWithoutInterval = 4

/**
 * Whether a point needs no more repetitions.
 *
 * @param callUs with what separates repetitions, whose median is in every one
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

/** Where the median of times lies with 95% confidence; of too few for that, their range. */
export function timeInterval(timesUs: readonly number[]): Interval {
  return medianInterval(timesUs) ?? [smallestOf(timesUs), largestOf(timesUs)]
}

/**
 * Repetitions of the next round of a setting: few of long calls, so that settings alternate, and more of short
 * ones, which take less than what starts a round.
 */
export function repetitionsOfRound(rule: StoppingRule, callUs: readonly number[]): number {
  const left = rule.repetitions - callUs.length
  if (callUs.length === 0) return Math.min(left, firstRound)
  return Math.min(left, mostInRound, Math.max(1, Math.ceil(roundUs / medianTime(callUs))))
}
