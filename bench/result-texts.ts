import type { ResultFigure } from './results-file.js'

// Figures and ratios as pages print them.

export function measured(value: number | undefined, best: number | undefined, unit: string): string {
  if (value === undefined) return ''
  const shown = unit.startsWith('%') ? `${number(value)}${unit}` : `${number(value)} ${unit}`
  return best === undefined ? shown : `${shown} (${number(best)})`
}

export function ratioOf({ ours, peer, ratio }: ResultFigure): number | null {
  return ratio ?? (peer === undefined ? null : ours / peer)
}

export const times = ['us', 'ms', 's']

export function ratioText(figure: ResultFigure): string {
  const ratio = ratioOf(figure)
  if (ratio === null) return ''
  if (ratio < 0.2 && times.includes(figure.unit)) return `1/${Math.round(1 / ratio)}x`
  const { interval } = figure
  if (interval === undefined) return timesText(ratio)
  return `${timesText(ratio)} (${interval.map((end) => end.toFixed(2)).join(' to ')})`
}

export function timesText(ratio: number): string {
  if (ratio >= 9.95) return `${Math.round(ratio)}x`
  return `${ratio >= 2 ? ratio.toFixed(1) : ratio >= 1 ? ratio.toFixed(2) : Number(ratio.toPrecision(3))}x`
}

export function number(value: number): string {
  return value.toLocaleString('en-US', { maximumFractionDigits: 3 })
}

/** Ratios of times; of a table that has none, all ratios. */
export function spreadRatios(figures: readonly ResultFigure[]): number[] {
  const compared = figures.filter((figure) => ratioOf(figure) !== null)
  const timed = compared.filter(({ unit }) => times.includes(unit))
  return (timed.length > 0 ? timed : compared).map((figure) => ratioOf(figure)!)
}

/** How many ratios, the least, the median and the greatest; empty cells of none. */
export function spreadOf(ratios: readonly number[]): string[] {
  const sorted = [...ratios].sort((a, b) => a - b)
  const last = sorted.length - 1
  if (last < 0) return ['', '', '', '']
  return [`${sorted.length}`, ...[0, last >> 1, last].map((at) => timesText(sorted[at]))]
}
