/**
 * 95% interval of the ratio of medians, after / before: runs are drawn again, with replacement, 10,000 times,
 * the same in every call.
 *
 * @param {readonly number[]} before
 * @param {readonly number[]} after
 * @returns {readonly [low: number, high: number]}
 */
export function ratioInterval(before, after) {
  const draw = drawnMedians()
  return interval(() => draw(after) / draw(before))
}

/**
 * The same of the median of ratios, each of one run.
 *
 * @param {readonly number[]} ratios
 * @returns {readonly [low: number, high: number]}
 */
export function medianInterval(ratios) {
  const draw = drawnMedians()
  return interval(() => draw(ratios))
}

/** @returns {(values: readonly number[]) => number} */
function drawnMedians() {
  const random = seeded(12345)
  return (values) => medianOf(values.map(() => values[Math.floor(random() * values.length)]))
}

/** @param {() => number} draw @returns {readonly [low: number, high: number]} */
function interval(draw) {
  const sorted = Float64Array.from({ length: 10_000 }, draw).sort()
  return [sorted[250], sorted[9_749]]
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
