import { type Interval, medianInterval } from '../../base/median-interval.js'
import type { Collective } from '../../schedule/specification.js'
import { defaultAlgorithm, type TuningSetting } from '../settings/setting.js'
import { callKey, type TuningCall } from '../settings/tuning-call.js'
import type { TimedCall } from './learn-grid.js'

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
