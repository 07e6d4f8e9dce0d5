import { requireKnownOptions, requireText } from '../../base/known-options.js'
import { uncheckedOptions } from '../../base/option.js'
import { formatDouble } from '../../text/printable.js'
import { requireMatrix } from './require-matrix.js'
import type { SparseMatrix } from './sparse-matrix.js'

const knownOptions = uncheckedOptions('pattern', 'comment')

/**
 * Returns the text of a matrix in Matrix Market coordinate format, general: row by row, real or complex, or without
 * values. `parseMatrixMarket` reads back the same matrix, bit for bit.
 */
export function formatMatrixMarket(
  matrix: SparseMatrix,
  options: { readonly pattern?: boolean; readonly comment?: string } = {},
): string {
  requireMatrix('formatMatrixMarket', matrix)
  requireKnownOptions('formatMatrixMarket', options, knownOptions)
  const { pattern = false, comment = '' } = options
  requireText('formatMatrixMarket: comment', comment)
  const { rows, cols, rowStart, colIndex, values, imag } = matrix
  const field = pattern ? 'pattern' : imag === null ? 'real' : 'complex'
  const lines = [`%%MatrixMarket matrix coordinate ${field} general`]
  if (comment !== '') for (const line of comment.split('\n')) lines.push(`% ${line}`)
  lines.push(`${rows} ${cols} ${colIndex.length}`)
  for (let i = 0; i < rows; i++)
    for (let e = rowStart[i]; e < rowStart[i + 1]; e++) {
      const entry = `${i + 1} ${colIndex[e] + 1}`
      if (pattern) lines.push(entry)
      else if (imag === null) lines.push(`${entry} ${formatDouble(values[e])}`)
      else lines.push(`${entry} ${formatDouble(values[e])} ${formatDouble(imag[e])}`)
    }
  return `${lines.join('\n')}\n`
}
