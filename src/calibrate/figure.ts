/** A measured figure: median and quartiles over the runs. */
export interface MeasuredFigure {
  readonly median: number
  readonly low: number
  readonly high: number
}

/** Of one run per value. */
export function figureOf(values: readonly number[]): MeasuredFigure {
  const sorted = values.toSorted((a, b) => a - b)
  return { median: quantile(sorted, 0.5), low: quantile(sorted, 0.25), high: quantile(sorted, 0.75) }
}

function quantile(sorted: readonly number[], share: number): number {
  const at = share * (sorted.length - 1)
  const below = Math.floor(at)
  const above = Math.min(below + 1, sorted.length - 1)
  return sorted[below] + (at - below) * (sorted[above] - sorted[below])
}
