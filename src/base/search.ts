/**
 * The index of a value in an ascending list without repetitions, or -1. O(1) in a list without gaps, else
 * O(lg length).
 */
export function indexIn(ascending: Int32Array, value: number): number {
  const { length } = ascending
  if (length === 0) return -1
  // No value is further from the first than its difference.
  const furthest = value - ascending[0]
  if (furthest < 0 || value > ascending[length - 1]) return -1
  if (furthest < length && ascending[furthest] === value) return furthest
  let low = 0
  let high = length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (ascending[middle] < value) low = middle + 1
    else high = middle
  }
  return ascending[low] === value ? low : -1
}

/**
 * The range that holds a position: range i is `starts[i]` to `starts[i + 1] - 1`. Of ranges that begin at the
 * same position the last, so never an empty one. The position must lie in some range.
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

/** The largest, -Infinity of none. Any number of them: `Math.max(...values)` fails beyond about 125,000. */
export function largestOf(values: Iterable<number>): number {
  let largest = Number.NEGATIVE_INFINITY
  for (const value of values) largest = Math.max(largest, value)
  return largest
}

/** The smallest, Infinity of none. */
export function smallestOf(values: Iterable<number>): number {
  let smallest = Number.POSITIVE_INFINITY
  for (const value of values) smallest = Math.min(smallest, value)
  return smallest
}

/** The lower of two middle ones; NaN of none. */
export function medianOf(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[(values.length - 1) >>> 1] ?? Number.NaN
}
