import { quantile } from '../../base/search.js'

/**
 * Returns the median of repetitions, which counts as their time: the mean of the two middle ones for an even number.
 */
export function medianTime(times: readonly number[]): number {
  return quantile(
    times.toSorted((a, b) => a - b),
    0.5,
  )
}
