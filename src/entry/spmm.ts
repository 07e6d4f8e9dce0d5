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
} from '../neighborhood/spmm/dense-matrix.js'
export type { TriedExchange } from '../neighborhood/spmm/fastest-exchange.js'
export { type MatrixRows, rowsOfMatrix } from '../neighborhood/spmm/matrix-rows.js'
export {
  type PreparedProduct,
  prepareProduct,
  type SpmmOptions,
} from '../neighborhood/spmm/prepared-product.js'
export type { ProductTime } from '../neighborhood/spmm/product-times.js'
export { readMatrixRows } from '../neighborhood/spmm/read-rows.js'
export { maxRelativeError, serialProduct } from '../neighborhood/spmm/serial.js'
export type { SparseProduct } from '../neighborhood/spmm/sparse-product.js'
export { type SpmmFacts, type SpmmProblem, type SpmmShare, spmm } from '../neighborhood/spmm/spmm.js'
