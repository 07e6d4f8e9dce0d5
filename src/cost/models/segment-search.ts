/**
 * Returns where a function is least on an interval: the best of the given points inside it, its ends, and one search
 * between each two neighbors. The result is exact if the function has one minimum between neighbors, as formulas have
 * between the sizes of PLogP's tables.
 */
export function leastBetween(
  points: readonly number[],
  low: number,
  high: number,
  time: (at: number) => number,
): number {
  const inside = points.filter((point) => point > low && point < high)
  const bounds = [low, ...inside, high]
  let best = low
  let least = time(low)
  const offer = (at: number): void => {
    const value = time(at)
    if (value < least) {
      least = value
      best = at
    }
  }
  for (let i = 1; i < bounds.length; i++) {
    offer(bounds[i])
    offer(goldenSection(bounds[i - 1], bounds[i], time))
  }
  return best
}

const ratio = (Math.sqrt(5) - 1) / 2

/** Returns where a function with one minimum is least, to a millionth of the interval. @see Kiefer 1953 */
function goldenSection(low: number, high: number, time: (at: number) => number): number {
  const width = (high - low) * 1e-6
  let left = high - ratio * (high - low)
  let right = low + ratio * (high - low)
  let [atLeft, atRight] = [time(left), time(right)]
  while (high - low > width && left < right) {
    if (atLeft <= atRight) {
      high = right
      right = left
      atRight = atLeft
      left = high - ratio * (high - low)
      atLeft = time(left)
    } else {
      low = left
      left = right
      atLeft = atRight
      right = low + ratio * (high - low)
      atRight = time(right)
    }
  }
  return (low + high) / 2
}
