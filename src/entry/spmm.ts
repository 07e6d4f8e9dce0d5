/**
 * `rankweave/spmm`: sparse times dense on the ranks of a communicator, by neighborhood collectives.
 *
 * @module rankweave/spmm
 */
export {
  type DenseMatrix,
  type DenseRows,
  randomRows,
  rowsOfDense,
  toDenseRows,
} from '../spmm/dense-matrix.js'
export type { TriedExchange } from '../spmm/fastest-exchange.js'
export { type MatrixRows, rowsOfMatrix } from '../spmm/matrix-rows.js'
export {
  type PreparedProduct,
  prepareProduct,
  type SpmmOptions,
} from '../spmm/prepared-product.js'
export type { ProductTime } from '../spmm/product-times.js'
export { readMatrixRows } from '../spmm/read-rows.js'
export type { SparseProduct } from '../spmm/sparse-product.js'
export { type SpmmFacts, type SpmmProblem, type SpmmShare, spmm } from '../spmm/spmm.js'
