import type { ByteSource } from '../../text/byte-source.js'
import { TextReader } from '../../text/text-reader.js'

/** The largest matrix that is read: row starts and entries have 32-bit indices and must fit into memory. */
export const matrixLimits = { rows: 2 ** 25, entries: 2 ** 27 } as const

const fields = ['real', 'integer', 'pattern', 'complex'] as const
const symmetries = ['general', 'symmetric', 'skew-symmetric', 'hermitian'] as const

/** The header and size line of a Matrix Market file. */
export interface MatrixMarketHeader {
  readonly format: 'coordinate' | 'array'
  readonly field: (typeof fields)[number]
  readonly symmetry: (typeof symmetries)[number]
  readonly rows: number
  readonly cols: number
  /** Entries in the file; of one triangle only, unless the matrix is general. */
  readonly declared: number
}

/** Takes one entry, 0-based; a pattern's entries are 1, a real matrix has no imaginary parts. */
export type TakeEntry = (row: number, col: number, re: number, im: number) => void

/**
 * Reads a Matrix Market file entry by entry in constant memory. Entries come in file order, each followed by its mirror
 * image unless the matrix is general; zeros of an array are left out.
 *
 * @param begin called with the header; returns what takes the entries
 * @throws ERR_MATRIX_MARKET with file, line and column
 */
export function readEntries(
  source: ByteSource,
  file: string,
  begin: (header: MatrixMarketHeader, sizeKnown: boolean) => TakeEntry,
): void {
  const reader = new TextReader(source, { file, code: 'ERR_MATRIX_MARKET', comment: '%' })
  const header = readHeader(reader)
  const take = begin(header, reader.bytesLeft !== null)
  if (header.format === 'coordinate') readCoordinates(reader, header, take)
  else readArray(reader, header, take)
  if (reader.nextContentLine())
    reader.fail(`the end of the file after ${header.declared} entries`, 'another line')
}

function readHeader(reader: TextReader): MatrixMarketHeader {
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
  // An entry takes at least two bytes, so a size line that promises more than the file holds allocates nothing.
  const bytesLeft = reader.bytesLeft === null ? Infinity : Math.max(0, reader.bytesLeft - 1)
  if (declared > bytesLeft)
    reader.fail(`${declared} entries`, `only ${bytesLeft} bytes after this line`, begin)
  return { rows, cols, declared }
}

function entriesOfArray(rows: number, cols: number, symmetry: MatrixMarketHeader['symmetry']): number {
  if (symmetry === 'general') return rows * cols
  return (rows * (rows - 1)) / 2 + (symmetry === 'skew-symmetric' ? 0 : rows)
}

function readCoordinates(reader: TextReader, header: MatrixMarketHeader, take: TakeEntry): void {
  const { declared, rows, cols } = header
  const entry = entryReader(reader, header, take)
  for (let e = 0; e < declared; e++) {
    nextEntryLine(reader, e, declared)
    const begin = reader.here()
    const i = reader.whole('a row', 1, rows) - 1
    const j = reader.whole('a column', 1, cols) - 1
    entry(i, j, begin)
    reader.endOfLine()
  }
}

function readArray(reader: TextReader, header: MatrixMarketHeader, take: TakeEntry): void {
  const { declared, rows, cols, symmetry } = header
  const entry = entryReader(reader, header, (i, j, re, im) => {
    if (re !== 0 || im !== 0) take(i, j, re, im)
  })
  let e = 0
  for (let j = 0; j < cols; j++) {
    const first = symmetry === 'general' ? 0 : symmetry === 'skew-symmetric' ? j + 1 : j
    for (let i = first; i < rows; i++) {
      nextEntryLine(reader, e++, declared)
      entry(i, j, reader.here())
      reader.endOfLine()
    }
  }
}

function nextEntryLine(reader: TextReader, done: number, declared: number): void {
  if (!reader.nextContentLine()) reader.fail(`${declared} entries`, `the end of the file after ${done}`)
}

/** Reads the value of entry (i, j) from the rest of the line, and passes it on with its mirror image. */
function entryReader(
  reader: TextReader,
  { field, symmetry }: MatrixMarketHeader,
  take: TakeEntry,
): (i: number, j: number, begin: number) => void {
  const general = symmetry === 'general'
  const mirrorRe = symmetry === 'skew-symmetric' ? -1 : 1
  const mirrorIm = symmetry === 'symmetric' ? 1 : -1
  return (i, j, begin) => {
    if (!general) checkTriangle(reader, symmetry, i, j, begin)
    let re = 1
    let im = 0
    if (field === 'real') re = reader.number('a number')
    else if (field === 'integer') re = reader.integer('an integer')
    else if (field === 'complex') {
      re = reader.number('a real part')
      const imAt = reader.here()
      im = reader.number('an imaginary part')
      if (symmetry === 'hermitian' && i === j && im !== 0)
        reader.fail(
          'a real diagonal in a hermitian matrix',
          `imaginary part ${im} at row ${i + 1}, column ${j + 1}`,
          imAt,
        )
    }
    take(i, j, re, im)
    if (!general && i !== j) take(j, i, mirrorRe * re, mirrorIm * im)
  }
}

function checkTriangle(reader: TextReader, symmetry: string, i: number, j: number, begin: number): void {
  const entry = `one at row ${i + 1}, column ${j + 1}`
  if (i < j) reader.fail(`only entries on or below the diagonal of a ${symmetry} matrix`, entry, begin)
  if (i === j && symmetry === 'skew-symmetric')
    reader.fail('no diagonal entries in a skew-symmetric matrix', entry, begin)
}
