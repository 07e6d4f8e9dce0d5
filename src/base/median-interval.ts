export type Interval = readonly [low: number, high: number]

/**
 * An interval that holds the median of what values are drawn from with a chance of at least 95%: the d-th
 * smallest to the d-th largest value, whatever the distribution is.
 *
 * @param mostOutside chance that the median lies outside, at most
 * @returns null of fewer than 6 values, which have no interval of 95%
 * @see David and Nagaraja, Order Statistics, 3rd edition, section 7.1
 */
export function medianInterval(values: readonly number[], mostOutside = 0.05): Interval | null {
  const { length } = values
  // The chance that `below` values lie below the median, as a logarithm: of thousands of values it starts below every number.
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
