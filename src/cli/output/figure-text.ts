/** Prints 12345.678 as `12,345.68`; at most two digits after the point. */
export function figure(value: number): string {
  return value.toLocaleString('en-US', { maximumFractionDigits: 2 })
}

/** Returns `1 rank`, `2 ranks`. */
export function counted(count: number, one: string, more: string): string {
  return `${figure(count)} ${count === 1 ? one : more}`
}

/** Prints three digits, or the whole number if it has more: `0.123`, `12.3`, `1,235`. */
export function significant(value: number): string {
  return value >= 999.5 ? figure(Math.round(value)) : value.toPrecision(3)
}

export function secondsText(value: number): string {
  return value < 0.9995 ? `${significant(value * 1000)} ms` : `${value.toFixed(2)} s`
}

/**
 * Returns how many percent fewer or more `part` is than `whole`.
 *
 * @param less `less` for quantities that are not counted
 */
export function change(part: number, whole: number, less = 'fewer'): string {
  if (whole === 0 || part === whole) return 'the same'
  const percent = (100 * Math.abs(whole - part)) / whole
  return `${percent.toFixed(1)}% ${part < whole ? less : 'more'}`
}

/** Returns `min 10, mean 18.28, max 20`. */
export function rangeText({
  min,
  mean,
  max,
}: {
  readonly min: number
  readonly mean: number
  readonly max: number
}) {
  return `min ${figure(min)}, mean ${figure(mean)}, max ${figure(max)}`
}
