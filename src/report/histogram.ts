/**
 * The distribution of a count over ranks: for `counts[i]` ranks it is at least `first + i * width` and below the next
 * bin.
 */
export interface Histogram {
  readonly first: number
  readonly width: number
  readonly counts: readonly number[]
  readonly min: number
  readonly mean: number
  readonly max: number
}

const mostBins = 40

/** Makes histograms of the same bins, so that they can be compared: at most 40 bins of equal integer width. */
export function histograms(...series: readonly ArrayLike<number>[]): Histogram[] {
  const ranges = series.map(rangeOf)
  const first = ranges.reduce((least, { min }) => Math.min(least, min), Number.POSITIVE_INFINITY)
  const last = ranges.reduce((most, { max }) => Math.max(most, max), Number.NEGATIVE_INFINITY)
  const span = last >= first ? last - first + 1 : 1
  const width = Math.ceil(span / mostBins)
  return series.map((values, s) => {
    const counts = new Array<number>(Math.ceil(span / width)).fill(0)
    let sum = 0
    for (let i = 0; i < values.length; i++) {
      counts[Math.floor((values[i] - first) / width)]++
      sum += values[i]
    }
    const isEmpty = values.length === 0
    const { min, max } = isEmpty ? { min: 0, max: 0 } : ranges[s]
    return {
      first: last >= first ? first : 0,
      width,
      counts,
      min,
      mean: isEmpty ? 0 : sum / values.length,
      max,
    }
  })
}

function rangeOf(values: ArrayLike<number>): { readonly min: number; readonly max: number } {
  let min = Number.POSITIVE_INFINITY
  let max = Number.NEGATIVE_INFINITY
  for (let i = 0; i < values.length; i++) {
    min = Math.min(min, values[i])
    max = Math.max(max, values[i])
  }
  return { min, max }
}
