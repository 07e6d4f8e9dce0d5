export type Interval = readonly [low: number, high: number]

/**
 * Returns an interval that holds the median of the values' distribution with a chance of at least 95%: the d-th
 * smallest to the d-th largest value, for any distribution.
 *
 * @param mostOutside the largest chance that the median lies outside
 * @returns null for fewer than 6 values, which have no interval of 95%
 * @see David and Nagaraja, Order Statistics, 3rd edition, section 7.1
 */
export function medianInterval(values: readonly number[], mostOutside = 0.05): Interval | null {
  const { length } = values
  // This is the chance that `below` values lie below the median, as a logarithm, because it underflows for thousands of
  // values.
  let lnChance = length * Math.log(0.5)
  let below = 0
  for (let outside = 2 * Math.exp(lnChance); outside <= mostOutside; outside += 2 * Math.exp(lnChance)) {
    lnChance += Math.log((length - below) / (below + 1))
    below++
  }
  if (below === 0) return null
  const ascending = values.toSorted((a, b) => a - b)
  return [ascending[below - 1], ascending[length - below]]
}
