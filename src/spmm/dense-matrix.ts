import { isCount } from '../base/known-options.js'
import { mulberry32 } from '../base/random.js'
import { RankweaveError, wrongValue } from '../errors.js'
import { blockBounds } from '../topology/compressed-rows.js'
import { requireMatrix, type SparseMatrix } from '../topology/files/sparse-matrix.js'
import { type MatrixRows, requireMatrixRows, requireShare } from './matrix-rows.js'

/** A dense matrix, row by row. */
export interface DenseMatrix {
  readonly rows: number
  readonly cols: number
  readonly values: Float64Array
}

/** A rank's consecutive rows of a dense matrix that is distributed over ranks by `blockBounds`. */
export interface DenseRows {
  /** The number of rows of the whole matrix. */
  readonly rows: number
  readonly cols: number
  /** The rows of this rank, one after another. */
  readonly values: Float64Array
}

/**
 * Allocates zeroed rows of a dense matrix.
 *
 * @param what in messages
 * @throws ERR_ARGUMENT if memory cannot hold them; a size line of few bytes can demand too much
 */
export function zeros(what: string, rows: number, cols: number): Float64Array {
  try {
    return new Float64Array(rows * cols)
  } catch (cause) {
    const message = `${what}: no memory for ${rows} x ${cols} numbers on one rank, ${8 * rows * cols} bytes`
    throw new RankweaveError('ERR_ARGUMENT', message, { details: { rows, cols }, cause })
  }
}

/**
 * Returns a rank's rows of a matrix of seeded numbers in [-1, 1), without making the other rows.
 * @throws ERR_ARGUMENT for sizes and seeds that are not integers
 */
export function randomRows(
  share: { readonly rank: number; readonly size: number },
  matrix: { readonly rows: number; readonly cols: number; readonly seed: number },
): DenseRows {
  requireShare('randomRows', share)
  requireDense('randomRows', matrix, 'size only')
  const { rank, size } = share
  const { rows, cols, seed } = matrix
  if (!Number.isSafeInteger(seed))
    throw wrongValue('ERR_ARGUMENT', 'randomRows: expected an integer as seed', seed)
  const bounds = blockBounds(rows, size)
  return { rows, cols, values: randomValues(bounds[rank], bounds[rank + 1], cols, seed) }
}

/** Returns rows `from` to `to - 1` of a sequence of numbers, row by row. */
function randomValues(from: number, to: number, cols: number, seed: number): Float64Array {
  // The state of the generator grows by this constant with every number.
  const random = mulberry32((seed | 0) + Math.imul(from * cols, 0x6d2b79f5))
  const values = zeros('B', to - from, cols)
  for (let i = 0; i < values.length; i++) values[i] = random() / 2 ** 31 - 1
  return values
}

/**
 * Expands a sparse matrix.
 * @throws ERR_ARGUMENT for a complex matrix, and one that memory cannot hold
 */
export function toDense(matrix: SparseMatrix): DenseMatrix {
  requireReal(matrix, 'B')
  const { rows, cols, rowStart, colIndex } = matrix
  const values = zeros('B', rows, cols)
  for (let row = 0; row < rows; row++) {
    for (let i = rowStart[row]; i < rowStart[row + 1]; i++)
      values[row * cols + colIndex[i]] = matrix.values[i]
  }
  return { rows, cols, values }
}

/**
 * Expands rows of a sparse matrix.
 * @throws ERR_ARGUMENT for a complex matrix, and rows that memory cannot hold
 */
export function toDenseRows(share: MatrixRows): DenseRows {
  requireMatrixRows('toDenseRows', share)
  const { rows, cols, block } = share
  return { rows, cols, values: toDense(block).values }
}

/** Returns a view of a rank's rows of a whole dense matrix. */
export function rowsOfDense(
  share: { readonly rank: number; readonly size: number },
  matrix: DenseMatrix,
): DenseRows {
  requireShare('rowsOfDense', share)
  requireDense('rowsOfDense', matrix, 'values')
  const { rank, size } = share
  const { rows, cols, values } = matrix
  const bounds = blockBounds(rows, size)
  return { rows, cols, values: values.subarray(bounds[rank] * cols, bounds[rank + 1] * cols) }
}

/** Copies columns `from` to `to - 1` into `into`, row after row without gaps. */
export function packColumns(matrix: DenseMatrix, from: number, to: number, into: Float64Array): void {
  const { rows, cols, values } = matrix
  if (from === 0 && to === cols) {
    into.set(values)
    return
  }
  for (let row = 0, next = 0; row < rows; row++) {
    for (let at = row * cols + from; at < row * cols + to; at++) into[next++] = values[at]
  }
}

/** @throws ERR_ARGUMENT */
export function requireReal(matrix: Pick<SparseMatrix, 'imag'>, name: string): void {
  if (matrix.imag === null) return
  throw new RankweaveError('ERR_ARGUMENT', `expected ${name} to be a real matrix, got a complex one`)
}

/**
 * @throws ERR_ARGUMENT unless the value has numbers of rows and columns, and its values where they are wanted
 */
export function requireDense(where: string, value: unknown, values: 'values' | 'size only'): void {
  const { rows, cols, ...rest } = Object(value) as Readonly<Record<string, unknown>>
  if (isCount(rows) && isCount(cols) && (values === 'size only' || rest['values'] instanceof Float64Array))
    return
  throw wrongValue('ERR_ARGUMENT', `${where}: expected a dense matrix`, value)
}

/** Multiplies A x B by the definition, on one rank: the oracle of every distributed product. B has `width` columns. */
export function serialProduct(a: SparseMatrix, b: Float64Array, width: number): Float64Array {
  requireMatrix('serialProduct', a)
  requireNumbers('serialProduct', b)
  if (!Number.isInteger(width) || width < 0)
    throw wrongValue('ERR_ARGUMENT', 'serialProduct: expected columns of B', width)
  const product = zeros('the serial product', a.rows, width)
  for (let row = 0; row < a.rows; row++) {
    for (let column = 0; column < width; column++) {
      let sum = 0
      for (let i = a.rowStart[row]; i < a.rowStart[row + 1]; i++) {
        sum += a.values[i] * b[a.colIndex[i] * width + column]
      }
      product[row * width + column] = sum
    }
  }
  return product
}

/**
 * Returns the largest |actual - expected| / |expected|; an expected zero counts as 1, a missing or spurious NaN as
 * infinite.
 */
export function maxRelativeError(actual: Float64Array, expected: Float64Array): number {
  requireNumbers('maxRelativeError', actual)
  requireNumbers('maxRelativeError', expected)
  if (actual.length !== expected.length) return Number.POSITIVE_INFINITY
  let worst = 0
  for (let i = 0; i < expected.length; i++) {
    const a = actual[i]
    const e = expected[i]
    if (Object.is(a, e) || a === e) continue
    const error = Math.abs(a - e) / (Math.abs(e) || 1)
    if (!(error <= worst)) worst = Number.isNaN(error) ? Number.POSITIVE_INFINITY : error
  }
  return worst
}

function requireNumbers(where: string, values: unknown): void {
  if (values instanceof Float64Array) return
  throw wrongValue('ERR_ARGUMENT', `${where}: expected a Float64Array`, values)
}
