import type { Interval } from '../../base/median-interval.js'
import type { Collective } from '../../schedule/specification.js'
import { bestNumber } from '../decision-grid.js'
import type { TuningCall } from '../tuning-call.js'
import { GridSelection, type SelectionLogic } from './grid-selection.js'
import type { LearnedGrid, TimedCall } from './learn-grid.js'
import { defaultNumber, medianRatioInterval, middleUs, type SizeTimes, timesBySize } from './size-times.js'

/** Calls of one size that took place, and what was learned about them. */
export interface CallGain {
  readonly call: TuningCall
  readonly calls: number
  /** Microseconds of all of them together. */
  readonly totalUs: number
  /** Number of the best setting; 0 where none is known. */
  readonly best: number
  /** Median times in microseconds, of the calls by that setting and of those by default; NaN without any. */
  readonly bestUs: number
  readonly defaultUs: number
  /** The first over the second; an interval of at least 95% confidence, null of fewer than 7 calls by one of them. */
  readonly ratio: number
  readonly interval: Interval | null
  /**
   * The setting whose calls had the least median, of those with at least 7, and that median: what an exhaustive search
   * finds. The least of several medians is a little too small. 0 and NaN: no setting has so many.
   */
  readonly fastest: number
  readonly fastestUs: number
  /** What the next runs try, by number. */
  readonly next: ReadonlyMap<number, number>
}

/** Calls of one size that a setting needs to be compared with others. */
const leastCompared = 7

/**
 * What runs so far gained by size of calls, those with the most calls first. Every figure is from calls that took place:
 * nothing is predicted but which setting is the best.
 */
export function callGains(
  collective: Collective,
  learned: LearnedGrid,
  timed: readonly TimedCall[],
  logic: SelectionLogic,
): CallGain[] {
  const { grid } = learned
  const byDefault = defaultNumber(grid.settings)
  return timesBySize(collective, timed).map((size): CallGain => {
    const { call, calls, totalUs, timesUs } = size
    const { bytes, nodes, processesPerNode } = call
    const best = grid.isTrained ? bestNumber(grid, bytes, nodes, processesPerNode) : 0
    const [ofBest, ofDefault] = [best, byDefault].map((number) => timesUs.get(number) ?? [])
    const [bestUs, defaultUs] = [middleUs(ofBest), middleUs(ofDefault)]
    return {
      ...{ call, calls, totalUs, best, bestUs, defaultUs, ratio: bestUs / defaultUs },
      interval: medianRatioInterval(ofBest, ofDefault),
      ...fastestOf(size),
      next: nextProbabilities(learned, logic, call, timesUs.keys()),
    }
  })
}

/**
 * What runs of a logic try for a call, by number.
 *
 * @param served numbers of the settings that are known to serve it
 */
export function nextProbabilities(
  { grid }: LearnedGrid,
  logic: SelectionLogic,
  { bytes, nodes, processesPerNode }: TuningCall,
  served: Iterable<number>,
): ReadonlyMap<number, number> {
  const eligible = [...served].sort((a, b) => a - b)
  return new GridSelection(grid, logic, eligible, nodes, processesPerNode).probabilitiesOf(bytes)
}

function fastestOf(size: SizeTimes): Pick<CallGain, 'fastest' | 'fastestUs'> {
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
  /** Sizes in which it has at least 7 calls. */
  readonly sizes: number
}

/** How far above the fastest median a setting is that a blacklist may well have. */
const slowFrom = 2

/**
 * Settings that took at least twice the time of the fastest one in every size, slowest first: what a user may exclude by
 * what was learned.
 *
 * @see Steiner 2023 §4.7
 */
export function slowSettings(sizes: Iterable<SizeTimes>): SlowSetting[] {
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
    .filter(({ leastRatio }) => leastRatio >= slowFrom)
    .sort((a, b) => b.leastRatio - a.leastRatio)
}
