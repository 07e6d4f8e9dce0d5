import { isCount } from '../../base/known-options.js'
import { wrongValue } from '../../errors.js'
import type { SparseMatrix, SparsePattern } from './sparse-matrix.js'

/**
 * Checks that a value has the row starts and columns of a matrix, but not what is in them. Takes constant time.
 * @throws ERR_ARGUMENT
 */
export function requirePattern(where: string, value: unknown): asserts value is SparsePattern {
  const { rows, cols, rowStart, colIndex } = Object(value) as Partial<SparsePattern>
  if (isCount(rows) && isCount(cols) && colIndex instanceof Int32Array)
    if (rowStart instanceof Int32Array && rowStart.length === rows + 1) return
  throw wrongValue('ERR_ARGUMENT', `${where}: expected a sparse matrix`, value)
}

/** Checks as {@link requirePattern} does, and that there are as many values as columns. @throws ERR_ARGUMENT */
export function requireMatrix(where: string, value: unknown): asserts value is SparseMatrix {
  requirePattern(where, value)
  const { colIndex, values, imag } = value as Partial<SparseMatrix>
  if (isEach(values, colIndex) && (imag === null || isEach(imag, colIndex))) return
  const expected = `${where}: expected a sparse matrix with a value for each of its ${colIndex!.length} columns`
  throw wrongValue('ERR_ARGUMENT', expected, values)
}

function isEach(values: unknown, of: Int32Array | undefined): boolean {
  return values instanceof Float64Array && values.length === of?.length
}
