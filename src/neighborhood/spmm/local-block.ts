import { rangeAt } from '../../base/search.js'
import { RankweaveError } from '../../errors.js'
import type { SparseMatrix } from '../../topology/matrix/sparse-matrix.js'

/**
 * One rank's rows of A, ready to multiply: every column index points into the operand, which holds the rank's own rows of B
 * and then, source by source, the rows that its neighbors send (the halo).
 */
export interface LocalBlock {
  readonly rowStart: Int32Array
  /** Row of the operand that each entry multiplies. */
  readonly operandRow: Int32Array
  readonly values: Float64Array
  readonly rows: number
  readonly ownRows: number
  /** Rows that each source sends, in the order of `sources`, and their sum. */
  readonly haloCounts: Int32Array
  readonly haloRows: number
}

/** Which consecutive rows of B each rank holds: rank j has `start[j]` to `start[j + 1] - 1`. */
export type RowOwners = Int32Array

/**
 * @param rows this rank's rows of A, columns numbered as in A
 * @param owners which rank holds which rows of B
 * @param sources the ranks this one receives from, in the topology's order
 * @throws ERR_TOPOLOGY when an entry needs a row of a rank that is not a source
 */
export function localBlock(
  rows: SparseMatrix,
  owners: RowOwners,
  rank: number,
  sources: ArrayLike<number>,
): LocalBlock {
  const ownRows = owners[rank + 1] - owners[rank]
  // Operand row of global row g of rank j: g + shift.get(j).
  const shift = new Map([[rank, -owners[rank]]])
  const haloCounts = new Int32Array(sources.length)
  let next = ownRows
  for (let slot = 0; slot < sources.length; slot++) {
    const source = sources[slot]
    haloCounts[slot] = owners[source + 1] - owners[source]
    if (!shift.has(source)) shift.set(source, next - owners[source])
    next += haloCounts[slot]
  }
  const operandRow = rows.colIndex.map((column) => {
    const owner = rangeAt(owners, column)
    const offset = shift.get(owner)
    if (offset !== undefined) return column + offset
    throw new RankweaveError(
      'ERR_TOPOLOGY',
      `rank ${rank} needs row ${column} of B, but rank ${owner}, which holds it, is not among its sources`,
      { details: { rank, owner, row: column } },
    )
  })
  const { rowStart, values } = rows
  return { rowStart, operandRow, values, rows: rows.rows, ownRows, haloCounts, haloRows: next - ownRows }
}

/**
 * Adds the block's product with an operand of `width` columns to columns `at` to `at + width - 1` of `result`, which
 * has `resultWidth` columns. Entries are added in the order of the row, so the bits do not depend on the partition.
 */
export function multiplyInto(
  block: LocalBlock,
  operand: Float64Array,
  width: number,
  result: Float64Array,
  resultWidth: number,
  at: number,
): void {
  const { rowStart, operandRow, values } = block
  for (let row = 0; row < block.rows; row++) {
    const to = row * resultWidth + at
    for (let i = rowStart[row]; i < rowStart[row + 1]; i++) {
      const from = operandRow[i] * width
      const factor = values[i]
      for (let c = 0; c < width; c++) result[to + c] += factor * operand[from + c]
    }
  }
}
