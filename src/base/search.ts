/**
 * Returns the index of a value in an ascending list without repetitions, or -1. O(1) in a list without gaps, else O(lg
 * length).
 */
export function indexIn(ascending: Int32Array, value: number): number {
  const { length } = ascending
  if (length === 0) return -1
  // The distance of a value from the first place is at most its difference from the first value.
  const furthest = value - ascending[0]
  if (furthest < 0 || value > ascending[length - 1]) return -1
  if (furthest < length && ascending[furthest] === value) return furthest
  const at = firstNotBelow(ascending, value, 0, length)
  return ascending[at] === value ? at : -1
}

/**
 * Returns the first of places `low` to `high - 1` of an ascending list whose value is not below another; else `high`.
 */
export function firstNotBelow(
  ascending: ArrayLike<number>,
  value: number,
  low: number,
  high: number,
): number {
  while (low < high) {
    const middle = (low + high) >>> 1
    if (ascending[middle] < value) low = middle + 1
    else high = middle
  }
  return low
}

/**
 * Returns the range that holds a position: range i is `starts[i]` to `starts[i + 1] - 1`. Of ranges that begin at the
 * same position it is the last, so never an empty one. The position must lie in some range.
 */
export function rangeAt(starts: Int32Array | Float64Array, position: number): number {
  let low = 0
  let high = starts.length - 1
  while (high - low > 1) {
    const middle = (low + high) >>> 1
    if (starts[middle] <= position) low = middle
    else high = middle
  }
  return low
}

export function equalNumbers(a: Int32Array | readonly number[], b: Int32Array | readonly number[]): boolean {
  if (a === b) return true
  if (a.length !== b.length) return false
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false
  return true
}

/**
 * Returns the largest value; -Infinity for none. It takes any number of values: `Math.max(...values)` fails beyond
 * about 125,000.
 */
export function largestOf(values: Iterable<number>): number {
  let largest = Number.NEGATIVE_INFINITY
  for (const value of values) largest = Math.max(largest, value)
  return largest
}

/** Returns the smallest value; Infinity for none. */
export function smallestOf(values: Iterable<number>): number {
  let smallest = Number.POSITIVE_INFINITY
  for (const value of values) smallest = Math.min(smallest, value)
  return smallest
}

/** Returns the mean; 0 for no values. */
export function meanOf(values: ArrayLike<number>): number {
  let sum = 0
  for (let i = 0; i < values.length; i++) sum += values[i]
  return values.length === 0 ? 0 : sum / values.length
}

/** Returns the value below which a share of all lies, linear between two: 0.5 for the median. There must be a value. */
export function quantile(ascending: readonly number[], share: number): number {
  const at = share * (ascending.length - 1)
  const below = Math.floor(at)
  const above = Math.min(below + 1, ascending.length - 1)
  return ascending[below] + (at - below) * (ascending[above] - ascending[below])
}

/** Returns the lower of two middle values; NaN for none. */
export function medianOf(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[(values.length - 1) >>> 1] ?? Number.NaN
}

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

/**
 * Returns the function through the points (`at[i]`, `values[i]`), linear between neighbors. Before the first it is
 * constant; beyond the last it rises as between the last two, and never falls. `at` ascends strictly and is not empty.
 */
export function interpolated(at: readonly number[], values: readonly number[]): (x: number) => number {
  const last = at.length - 1
  return (x) => {
    if (last === 0 || x <= at[0]) return values[0]
    let low = 0
    let high = last
    while (high - low > 1) {
      const middle = (low + high) >>> 1
      if (at[middle] <= x) low = middle
      else high = middle
    }
    const slope = (values[high] - values[low]) / (at[high] - at[low])
    if (x > at[last]) return values[last] + Math.max(0, slope) * (x - at[last])
    return values[low] + slope * (x - at[low])
  }
}

/**
 * Returns the numbers from 0 on in the order of their keys, those of one key ascending. It is many times faster than a
 * sort by a comparison.
 *
 * @param count at most 2^28
 * @param keyOf returns integers from 0 to 2^25
 */
export function stableOrder(count: number, keyOf: (number: number) => number): Int32Array {
  const order = new Int32Array(count)
  const keys = new Float64Array(count)
  let isSorted = true
  let last = 0
  for (let number = 0; number < count; number++) {
    const key = keyOf(number)
    if (key < last) isSorted = false
    last = key
    keys[number] = key * count + number
    order[number] = number
  }
  if (isSorted) return order
  keys.sort()
  for (let at = 0; at < count; at++) order[at] = keys[at] % count
  return order
}

/**
 * Returns the inverse, which has i at place `permutation[i]`.
 *
 * @param permutation of 0 to its length - 1; it is not checked
 */
export function inversePermutation(permutation: ArrayLike<number>): Int32Array {
  const inverse = new Int32Array(permutation.length)
  for (let i = 0; i < permutation.length; i++) inverse[permutation[i]] = i
  return inverse
}
