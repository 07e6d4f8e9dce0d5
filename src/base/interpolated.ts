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
