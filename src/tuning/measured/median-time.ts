import { quantile } from '../../base/search.js'

/** The time that counts of repetitions: their median, the mean of the two middle ones of an even number. */
export function medianTime(times: readonly number[]): number {
  return quantile(
    times.toSorted((a, b) => a - b),
    0.5,
  )
}
