import { mulberry32 } from '../../base/random.js'
import { RankweaveError } from '../../errors.js'
import type { SparseMatrix } from '../../topology/matrix/sparse-matrix.js'

/** A dense matrix, rows one after another. */
export interface DenseMatrix {
  readonly rows: number
  readonly cols: number
  readonly values: Float64Array
}

/** Seeded numbers in [-1, 1). */
export function randomDense(rows: number, cols: number, seed: number): DenseMatrix {
  const random = mulberry32(seed)
  const values = new Float64Array(rows * cols)
  for (let i = 0; i < values.length; i++) values[i] = random() / 2 ** 31 - 1
  return { rows, cols, values }
}

/** A sparse matrix in dense form. @throws ERR_ARGUMENT for a complex matrix */
export function toDense(matrix: SparseMatrix): DenseMatrix {
  requireReal(matrix, 'B')
  const { rows, cols, rowStart, colIndex } = matrix
  const values = new Float64Array(rows * cols)
  for (let row = 0; row < rows; row++) {
    for (let i = rowStart[row]; i < rowStart[row + 1]; i++)
      values[row * cols + colIndex[i]] = matrix.values[i]
  }
  return { rows, cols, values }
}

/** Rows `from` to `to - 1`, a view into `matrix`. */
export function sliceDense({ cols, values }: DenseMatrix, from: number, to: number): DenseMatrix {
  return { rows: to - from, cols, values: values.subarray(from * cols, to * cols) }
}

/** Copies columns `from` to `to - 1` into `into`, row after row without gaps. */
export function packColumns(matrix: DenseMatrix, from: number, to: number, into: Float64Array): void {
  const { rows, cols, values } = matrix
  for (let row = 0; row < rows; row++) {
    into.set(values.subarray(row * cols + from, row * cols + to), row * (to - from))
  }
}

/** @throws ERR_ARGUMENT */
export function requireReal(matrix: SparseMatrix, name: string): void {
  if (matrix.imag === null) return
  throw new RankweaveError('ERR_ARGUMENT', `expected ${name} to be a real matrix, got a complex one`)
}
