/** With fewer times no two of them hold the median with 95% confidence. */
export const leastForInterval = 6

/**
 * Where the median lies with 95% confidence, whatever the distribution: two order statistics of an ascending
 * sample. Of fewer than {@link leastForInterval} the lowest and the highest.
 *
 * The interval from the k-th lowest to the k-th highest of n misses the median where fewer than k of them are on
 * one side of it: 2 P(B < k), B binomial of n and 1/2. The largest k with at most 5% is taken.
 */
export function medianInterval(ascending: readonly number[]): readonly [low: number, high: number] {
  const n = ascending.length
  let lnProbability = -n * Math.LN2
  let below = 0
  let k = 0
  while (2 * (below + Math.exp(lnProbability)) <= 0.05) {
    below += Math.exp(lnProbability)
    lnProbability += Math.log((n - k) / (k + 1))
    k++
  }
  const from = Math.max(k, 1) - 1
  return [ascending[from], ascending[n - 1 - from]]
}
