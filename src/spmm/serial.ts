import { wrongValue } from '../errors.js'
import { requireMatrix, type SparseMatrix } from '../topology/files/sparse-matrix.js'
import { zeros } from './dense-matrix.js'

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
