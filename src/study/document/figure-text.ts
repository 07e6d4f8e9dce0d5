import type { Cell } from './document.js'

/** A cell as text: integers in full, other numbers to four significant digits, an en dash for no value. */
export function cellText(cell: Cell): string {
  if (cell === null) return '–'
  return typeof cell === 'string' ? cell : numberText(cell)
}

export function numberText(value: number): string {
  return Number.isInteger(value)
    ? value.toLocaleString('en-US')
    : value.toLocaleString('en-US', { maximumSignificantDigits: 4 })
}

/** `4 B`, `1 KiB`, `1.5 MiB`. */
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
