import type { TextReader } from '../../text/text-reader.js'

/** The largest matrix that is read: row starts and entries have 32-bit indices and must fit into memory. */
export const matrixLimits = { rows: 2 ** 25, entries: 2 ** 27 } as const

const fields = ['real', 'integer', 'pattern', 'complex', 'unsigned-integer'] as const
const symmetries = ['general', 'symmetric', 'skew-symmetric', 'hermitian'] as const

/** The header and size line of a Matrix Market file. */
export interface MatrixMarketHeader {
  readonly format: 'coordinate' | 'array'
  readonly field: (typeof fields)[number]
  readonly symmetry: (typeof symmetries)[number]
  readonly rows: number
  readonly cols: number
  /** The number of entries in the file; of one triangle only, unless the matrix is general. */
  readonly declared: number
}

/**
 * Reads the header, comments and size line.
 *
 * @throws ERR_MATRIX_MARKET with file, line and column
 */
export function readMatrixMarketHeader(reader: TextReader): MatrixMarketHeader {
  const example = "a header such as '%%MatrixMarket matrix coordinate real general'"
  if (!reader.nextLine()) reader.fail(example, 'an empty file')
  const begin = reader.here()
  const shown = reader.shown()
  if (reader.word() !== '%%MatrixMarket') reader.fail(example, shown, begin)
  reader.oneOf(['matrix'])
  const format = reader.oneOf(['coordinate', 'array'] as const)
  const fieldAt = reader.here()
  const field = reader.oneOf(fields)
  const symmetryAt = reader.here()
  const symmetry = reader.oneOf(symmetries)
  if (!reader.atLineEnd()) reader.fail('the header to end', reader.shown())
  if (field === 'pattern' && format === 'array')
    reader.fail('coordinate format for a pattern', "'array'", fieldAt)
  if (symmetry === 'hermitian' && field !== 'complex')
    reader.fail('complex entries for a hermitian matrix', `'${field}'`, symmetryAt)
  if (symmetry === 'skew-symmetric' && field === 'pattern')
    reader.fail('entries with values for a skew-symmetric matrix', "'pattern'", symmetryAt)
  return { format, field, symmetry, ...readSize(reader, format, symmetry) }
}

function readSize(
  reader: TextReader,
  format: MatrixMarketHeader['format'],
  symmetry: MatrixMarketHeader['symmetry'],
): { readonly rows: number; readonly cols: number; readonly declared: number } {
  const line = format === 'coordinate' ? "a line 'ROWS COLUMNS ENTRIES'" : "a line 'ROWS COLUMNS'"
  if (!reader.nextContentLine()) reader.fail(line, 'the end of the file')
  const begin = reader.here()
  const rows = reader.whole('the number of rows', 0, matrixLimits.rows)
  const cols = reader.whole('the number of columns', 0, matrixLimits.rows)
  const declared =
    format === 'coordinate'
      ? reader.whole('the number of entries', 0, matrixLimits.entries)
      : entriesOfArray(rows, cols, symmetry)
  reader.endOfLine()
  if (symmetry !== 'general' && rows !== cols)
    reader.fail(`as many columns as rows in a ${symmetry} matrix`, `${rows} x ${cols}`, begin)
  if (declared > matrixLimits.entries)
    reader.fail(`at most ${matrixLimits.entries} entries`, `${rows} x ${cols}`, begin)
  if (declared > 0 && (rows === 0 || cols === 0))
    reader.fail(`no entries in a matrix of ${rows} x ${cols}`, `${declared}`, begin)
  // An entry takes at least two bytes, so a size line that promises more than the file holds allocates
  // nothing.
  const bytesLeft = reader.bytesLeft === null ? Infinity : Math.max(0, reader.bytesLeft - 1)
  if (declared > bytesLeft)
    reader.fail(`${declared} entries`, `only ${bytesLeft} bytes after this line`, begin)
  return { rows, cols, declared }
}

function entriesOfArray(rows: number, cols: number, symmetry: MatrixMarketHeader['symmetry']): number {
  if (symmetry === 'general') return rows * cols
  return (rows * (rows - 1)) / 2 + (symmetry === 'skew-symmetric' ? 0 : rows)
}
