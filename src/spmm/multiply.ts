import type { LocalBlock } from './local-block.js'

/** The part of the operand that should stay in a core's cache while the rows of A pass by. */
const cacheBytes = 1 << 18
/** The width of a cache line of doubles: with narrower panels, lines of the operand would be read more than once. */
const narrowestPanel = 8

/** Returns how many columns of the operand are multiplied in one pass over the rows of A. */
export function panelColumns(operandRows: number, width: number): number {
  const fitting = Math.floor(cacheBytes / (8 * Math.max(1, operandRows)))
  return Math.min(width, Math.max(narrowestPanel, fitting - (fitting % narrowestPanel)))
}

/**
 * Multiplies some rows of the block with an operand of `width` columns. The product goes to columns `at` to `at + width
 * - 1` of `result`, which has `resultWidth` columns. Every sum adds the row's entries in their order, from zero. The
 * bits are therefore those of the serial product, however rows and columns are divided.
 *
 * @param rows the rows of the block, and of the result
 */
export function multiplyRows(
  block: LocalBlock,
  rows: Int32Array,
  operand: Float64Array,
  width: number,
  result: Float64Array,
  resultWidth: number,
  at: number,
): void {
  const panel = panelColumns(block.operandRows, width)
  for (let from = 0; from < width; from += panel) {
    const to = Math.min(width, from + panel)
    const singles = to - ((to - from) % 4)
    if (singles > from) multiplyFours(block, rows, operand, width, from, singles, result, resultWidth, at)
    for (let column = singles; column < to; column++)
      multiplyOne(block, rows, operand, width, column, result, resultWidth, at)
  }
}

/** Multiplies four columns at a time: each entry of A that is read feeds four sums in registers. */
function multiplyFours(
  { rowStart, operandRow, values }: LocalBlock,
  rows: Int32Array,
  operand: Float64Array,
  width: number,
  firstColumn: number,
  endColumn: number,
  result: Float64Array,
  resultWidth: number,
  at: number,
): void {
  for (let r = 0; r < rows.length; r++) {
    const row = rows[r]
    const begin = rowStart[row]
    const end = rowStart[row + 1]
    for (let column = firstColumn; column < endColumn; column += 4) {
      let a = 0
      let b = 0
      let c = 0
      let d = 0
      for (let e = begin; e < end; e++) {
        const factor = values[e]
        const from = operandRow[e] * width + column
        a += factor * operand[from]
        b += factor * operand[from + 1]
        c += factor * operand[from + 2]
        d += factor * operand[from + 3]
      }
      const to = row * resultWidth + at + column
      result[to] = a
      result[to + 1] = b
      result[to + 2] = c
      result[to + 3] = d
    }
  }
}

function multiplyOne(
  { rowStart, operandRow, values }: LocalBlock,
  rows: Int32Array,
  operand: Float64Array,
  width: number,
  column: number,
  result: Float64Array,
  resultWidth: number,
  at: number,
): void {
  for (let r = 0; r < rows.length; r++) {
    const row = rows[r]
    const end = rowStart[row + 1]
    let sum = 0
    for (let e = rowStart[row]; e < end; e++) sum += values[e] * operand[operandRow[e] * width + column]
    result[row * resultWidth + at + column] = sum
  }
}
