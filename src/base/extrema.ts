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
