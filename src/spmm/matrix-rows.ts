import { isCount } from '../base/known-options.js'
import { wrongValue } from '../errors.js'
import { Communicator } from '../handles/communicator.js'
import { blockBounds } from '../topology/compressed-rows.js'
import { requireMatrix, type SparseMatrix } from '../topology/files/sparse-matrix.js'

/** A rank's consecutive rows of a matrix that `blockBounds` distributes over ranks. */
export interface MatrixRows {
  /** The number of rows of the whole matrix. */
  readonly rows: number
  readonly cols: number
  /** The first row of the block. */
  readonly first: number
  /** The rows of the block, with the columns of the whole matrix. */
  readonly block: SparseMatrix
}

/** Returns a rank's rows of a whole matrix. Local; entries are views into `matrix`. */
export function rowsOfMatrix(world: Pick<Communicator, 'rank' | 'size'>, matrix: SparseMatrix): MatrixRows {
  requireShare('rowsOfMatrix', world)
  requireMatrix('rowsOfMatrix', matrix)
  const { rows, cols } = matrix
  const bounds = blockBounds(rows, world.size)
  const [first, end] = [bounds[world.rank], bounds[world.rank + 1]]
  return { rows, cols, first, block: sliceRows(matrix, first, end) }
}

/** Returns rows `from` to `to - 1` of a matrix, with the same columns. Entries are views into `matrix`. */
export function sliceRows(matrix: SparseMatrix, from: number, to: number): SparseMatrix {
  const first = matrix.rowStart[from]
  const end = matrix.rowStart[to]
  return {
    rows: to - from,
    cols: matrix.cols,
    rowStart: matrix.rowStart.slice(from, to + 1).map((position) => position - first),
    colIndex: matrix.colIndex.subarray(first, end),
    values: matrix.values.subarray(first, end),
    imag: matrix.imag?.subarray(first, end) ?? null,
  }
}

/** Joins the rows of all ranks, in their order, to the whole matrix. */
export function joinRows(parts: readonly MatrixRows[]): SparseMatrix {
  const [{ rows, cols }] = parts
  const entries = parts.reduce((sum, { block }) => sum + block.values.length, 0)
  const rowStart = new Int32Array(rows + 1)
  const colIndex = new Int32Array(entries)
  const values = new Float64Array(entries)
  let at = 0
  for (const { first, block } of parts) {
    for (let row = 0; row < block.rows; row++) rowStart[first + row + 1] = at + block.rowStart[row + 1]
    colIndex.set(block.colIndex, at)
    values.set(block.values, at)
    at += block.values.length
  }
  return { rows, cols, rowStart, colIndex, values, imag: null }
}

/** @throws ERR_ARGUMENT */
export function requireCommunicator(where: string, value: unknown): asserts value is Communicator {
  if (value instanceof Communicator) return
  throw wrongValue('ERR_ARGUMENT', `${where}: expected a communicator`, value)
}

/** @throws ERR_ARGUMENT unless the value has a rank and a size */
export function requireShare(where: string, value: unknown): void {
  const { rank, size } = Object(value) as { readonly rank?: unknown; readonly size?: unknown }
  if (isCount(rank) && isCount(size) && rank < size) return
  throw wrongValue('ERR_ARGUMENT', `${where}: expected a rank and a size`, value)
}

/** @throws ERR_ARGUMENT unless the value is one rank's rows of a sparse matrix */
export function requireMatrixRows(where: string, value: unknown): void {
  const { rows, cols, first, block } = Object(value) as Readonly<Record<string, unknown>>
  requireMatrix(where, block)
  if (isCount(rows) && isCount(cols) && isCount(first)) return
  throw wrongValue('ERR_ARGUMENT', `${where}: expected a rank's rows of a sparse matrix`, value)
}
