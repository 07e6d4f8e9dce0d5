/**
 * 95% interval of the ratio of medians, after / before: runs are drawn again, with replacement, 10,000 times,
 * the same in every call.
 *
 * @param {readonly number[]} before
 * @param {readonly number[]} after
 * @returns {readonly [low: number, high: number]}
 */
export function ratioInterval(before, after) {
  const random = seeded(12345)
  /** @param {readonly number[]} values */
  const draw = (values) => medianOf(values.map(() => values[Math.floor(random() * values.length)]))
  const ratios = Float64Array.from({ length: 10_000 }, () => draw(after) / draw(before)).sort()
  return [ratios[250], ratios[9_749]]
}

/** @param {readonly number[]} values @returns {number} */
export function medianOf(values) {
  const sorted = Float64Array.from(values).sort()
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}

/** Numbers from 0 to 1, the same in every run (xorshift32). @param {number} state */
function seeded(state) {
  return () => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) / 2 ** 32
  }
}
