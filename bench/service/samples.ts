/** The sample below which this share of all lies; share 1: the largest. */
export function percentile(samples: readonly number[], share: number): number {
  const sorted = Float64Array.from(samples).sort()
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))]
}
