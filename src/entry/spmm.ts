/**
 * `rankweave/spmm`: sparse times dense on the ranks of a communicator, by neighborhood collectives.
 *
 * @module rankweave/spmm
 */
export type { DenseMatrix } from '../neighborhood/spmm/dense-matrix.js'
export { type MatrixRows, rowsOfMatrix } from '../neighborhood/spmm/matrix-rows.js'
export { readMatrixRows } from '../neighborhood/spmm/read-rows.js'
export { maxRelativeError, serialProduct } from '../neighborhood/spmm/serial.js'
export { type SpmmProblem, type SpmmShare, spmm } from '../neighborhood/spmm/spmm.js'
