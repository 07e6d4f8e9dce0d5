import type { Cell } from './document.js'

/** Returns a cell as text: an en dash for no value. */
export function cellText(cell: Cell): string {
  if (cell === null) return '–'
  return typeof cell === 'string' ? cell : numberText(cell)
}

/**
 * Returns a number as text: integers in full, others with two digits after the point below 1,000, and three significant
 * ones below 1.
 */
export function numberText(value: number): string {
  if (Number.isInteger(value)) return value.toLocaleString('en-US')
  const size = Math.abs(value)
  if (size < 1) return value.toLocaleString('en-US', { maximumSignificantDigits: 3 })
  return value.toLocaleString('en-US', { maximumFractionDigits: size < 1000 ? 2 : 0 })
}

/** Returns a length such as `4 B`, `1 KiB`, `1.5 MiB`. */
export function bytesText(bytes: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB']
  let unit = 0
  let value = bytes
  while (value >= 1024 && unit + 1 < units.length) {
    value /= 1024
    unit++
  }
  return `${numberText(value)} ${units[unit]}`
}
