import { Communicator } from '../../comm/communicator.js'
import { RankweaveError, shown } from '../../errors.js'
import { requireMatrix } from '../../topology/matrix/require-matrix.js'

/** @throws ERR_ARGUMENT */
export function requireCommunicator(where: string, value: unknown): asserts value is Communicator {
  if (value instanceof Communicator) return
  throw new RankweaveError('ERR_ARGUMENT', `${where}: expected a communicator, got ${shown(value)}`)
}

/** @throws ERR_ARGUMENT unless the value says which rank it is, of how many */
export function requireShare(where: string, value: unknown): void {
  const { rank, size } = Object(value) as { readonly rank?: unknown; readonly size?: unknown }
  if (isCount(rank) && isCount(size) && Number(rank) < Number(size)) return
  throw new RankweaveError('ERR_ARGUMENT', `${where}: expected a rank and a size, got ${shown(value)}`)
}

/** @throws ERR_ARGUMENT unless the value is one rank's rows of a sparse matrix */
export function requireMatrixRows(where: string, value: unknown): void {
  const { rows, cols, first, block } = Object(value) as Readonly<Record<string, unknown>>
  requireMatrix(where, block)
  if (isCount(rows) && isCount(cols) && isCount(first)) return
  throw new RankweaveError(
    'ERR_ARGUMENT',
    `${where}: expected a rank's rows of a sparse matrix, got ${shown(value)}`,
  )
}

/** @throws ERR_ARGUMENT unless the value has numbers of rows and columns, and its values where they are wanted */
export function requireDense(where: string, value: unknown, values: 'values' | 'size only'): void {
  const { rows, cols, ...rest } = Object(value) as Readonly<Record<string, unknown>>
  if (isCount(rows) && isCount(cols) && (values === 'size only' || rest['values'] instanceof Float64Array))
    return
  throw new RankweaveError('ERR_ARGUMENT', `${where}: expected a dense matrix, got ${shown(value)}`)
}

function isCount(value: unknown): boolean {
  return Number.isInteger(value) && (value as number) >= 0
}
