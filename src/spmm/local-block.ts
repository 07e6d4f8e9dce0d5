import { rangeAt } from '../base/search.js'
import { RankweaveError } from '../errors.js'
import type { SparseMatrix } from '../topology/files/sparse-matrix.js'

/**
 * The rows of A of one rank, ready to multiply: every column index points into the operand. The operand holds the
 * rank's own block of B and then, source by source, the blocks that its neighbors send. All blocks have the same number
 * of rows, those of the longest; the last row of a shorter one is not used.
 */
export interface LocalBlock {
  readonly rows: number
  readonly rowStart: Int32Array
  /** The row of the operand that each entry multiplies. */
  readonly operandRow: Int32Array
  readonly values: Float64Array
  /** The number of rows of a block of the operand, and of the whole operand. */
  readonly blockRows: number
  readonly operandRows: number
  /** The rows of A that need only own rows of B, and the others. Both ascend. */
  readonly innerRows: Int32Array
  readonly outerRows: Int32Array
}

/** The distribution of the rows of B: rank j owns rows `start[j]` to `start[j + 1] - 1`. */
export type RowOwners = Int32Array

export function longestBlock(owners: RowOwners): number {
  let longest = 0
  for (let j = 0; j + 1 < owners.length; j++) longest = Math.max(longest, owners[j + 1] - owners[j])
  return longest
}

/** Returns the other ranks that own rows of B which these rows of A need, ascending. */
export function sourcesOf({ colIndex }: SparseMatrix, owners: RowOwners, rank: number): Int32Array {
  const isNeeded = new Uint8Array(owners.length - 1)
  for (let e = 0; e < colIndex.length; e++) isNeeded[rangeAt(owners, colIndex[e])] = 1
  isNeeded[rank] = 0
  return Int32Array.from(isNeeded.keys()).filter((owner) => isNeeded[owner] === 1)
}

/**
 * @param rows this rank's rows of A, columns numbered as in A
 * @param owners the rank that owns each row of B
 * @param sources the ranks this one receives from, in the topology's order
 * @throws ERR_TOPOLOGY when an entry needs a row of a rank that is not a source
 */
export function localBlock(
  rows: SparseMatrix,
  owners: RowOwners,
  rank: number,
  sources: ArrayLike<number>,
): LocalBlock {
  const { rowStart, values } = rows
  const blockRows = longestBlock(owners)
  // Global row g of rank j is operand row g + shift.get(j).
  const shift = new Map([[rank, -owners[rank]]])
  for (let slot = 0; slot < sources.length; slot++) {
    const source = sources[slot]
    if (!shift.has(source)) shift.set(source, (1 + slot) * blockRows - owners[source])
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
  const isInner = (row: number) => {
    for (let e = rowStart[row]; e < rowStart[row + 1]; e++) if (operandRow[e] >= blockRows) return false
    return true
  }
  const all = Int32Array.from({ length: rows.rows }, (_, row) => row)
  return {
    rows: rows.rows,
    rowStart,
    operandRow,
    values,
    blockRows,
    operandRows: (1 + sources.length) * blockRows,
    innerRows: all.filter(isInner),
    outerRows: all.filter((row) => !isInner(row)),
  }
}
