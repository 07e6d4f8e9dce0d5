import { LineReader } from './line-reader.js'
import { readSourceFile } from './source-file.js'
import { compressTriplets, type SparseMatrix, type Triplets } from './sparse-matrix.js'

/** The largest matrix we read: row starts and entries are int32-indexed and must fit a process. */
export const matrixLimits = { rows: 2 ** 25, entries: 2 ** 27 } as const

const fields = ['real', 'integer', 'pattern', 'complex'] as const
const symmetries = ['general', 'symmetric', 'skew-symmetric', 'hermitian'] as const

type Field = (typeof fields)[number]
type Symmetry = (typeof symmetries)[number]

interface Header {
  readonly format: 'coordinate' | 'array'
  readonly field: Field
  readonly symmetry: Symmetry
}

/**
 * Reads a Matrix Market file: coordinate or array; real, integer, pattern (entries are 1) or complex; general, symmetric,
 * skew-symmetric or hermitian, expanded to both triangles. Repeated entries are summed in file order. A coordinate
 * file's explicit zeros stay stored, an array's zeros do not. One entry per line; blank lines and `%` comments may stand
 * anywhere.
 *
 * @param file name for messages
 * @throws ERR_MATRIX_MARKET with file and line
 * @see NIST, The Matrix Market Exchange Formats (NISTIR 5935)
 */
export function parseMatrixMarket(source: string | Uint8Array, file = 'matrix'): SparseMatrix {
  const bytes = typeof source === 'string' ? new TextEncoder().encode(source) : source
  const reader = new LineReader(bytes, file, 'ERR_MATRIX_MARKET')
  const header = readHeader(reader)
  return header.format === 'coordinate' ? readCoordinate(reader, header) : readArray(reader, header)
}

/**
 * Reads a Matrix Market file from disk: {@link parseMatrixMarket}.
 *
 * @throws ERR_FILE, ERR_MATRIX_MARKET
 */
export function readMatrixMarket(path: string): SparseMatrix {
  return parseMatrixMarket(readSourceFile(path), path)
}

function readHeader(reader: LineReader): Header {
  const example = "'%%MatrixMarket matrix coordinate real general'"
  if (!reader.nextLine()) reader.fail(`a header such as ${example}`, 'an empty file')
  const [banner, object, format, field, symmetry, ...rest] = reader.lineText().trim().split(/\s+/)
  if (banner !== '%%MatrixMarket') reader.fail(`a header such as ${example}`, `'${banner.slice(0, 40)}'`)
  reader.word(object, ['matrix'])
  const header = {
    format: reader.word(format, ['coordinate', 'array'] as const),
    field: reader.word(field, fields),
    symmetry: reader.word(symmetry, symmetries),
  }
  if (rest.length > 0) reader.fail('the header to end', `'${rest[0]}'`)
  if (header.field === 'pattern' && header.format === 'array')
    reader.fail('coordinate format for a pattern', "'array'")
  if (header.symmetry === 'hermitian' && header.field !== 'complex')
    reader.fail('complex entries for a hermitian matrix', `'${field}'`)
  if (header.symmetry === 'skew-symmetric' && header.field === 'pattern')
    reader.fail('entries with values for a skew-symmetric matrix', "'pattern'")
  return header
}

function readCoordinate(reader: LineReader, { field, symmetry }: Header): SparseMatrix {
  nextContentLine(reader, "a line 'ROWS COLUMNS ENTRIES'")
  const rows = reader.whole('the number of rows', 0, matrixLimits.rows)
  const cols = reader.whole('the number of columns', 0, matrixLimits.rows)
  const declared = reader.whole('the number of entries', 0, matrixLimits.entries)
  reader.endOfLine()
  checkSquare(reader, symmetry, rows, cols)
  if (declared > 0 && (rows === 0 || cols === 0))
    reader.fail(`no entries in a matrix of ${rows} x ${cols}`, `${declared}`)
  const entries = new Entries(reader, { rows, cols, field, symmetry, declared })
  for (let e = 0; e < declared; e++) {
    if (!reader.nextContentLine()) reader.fail(`${declared} entries`, `the end of the file after ${e}`)
    const i = reader.whole('a row', 1, rows) - 1
    const j = reader.whole('a column', 1, cols) - 1
    entries.add(i, j)
    reader.endOfLine()
  }
  if (reader.nextContentLine()) reader.fail(`the end of the file after ${declared} entries`, 'another line')
  return compressTriplets(entries.triplets())
}

function readArray(reader: LineReader, { field, symmetry }: Header): SparseMatrix {
  nextContentLine(reader, "a line 'ROWS COLUMNS'")
  const rows = reader.whole('the number of rows', 0, matrixLimits.rows)
  const cols = reader.whole('the number of columns', 0, matrixLimits.rows)
  reader.endOfLine()
  checkSquare(reader, symmetry, rows, cols)
  const diagonal = symmetry === 'skew-symmetric' ? 0 : rows
  const declared = symmetry === 'general' ? rows * cols : (rows * (rows - 1)) / 2 + diagonal
  if (declared > matrixLimits.entries)
    reader.fail(`at most ${matrixLimits.entries} entries`, `${rows} x ${cols}`)
  const entries = new Entries(reader, { rows, cols, field, symmetry, declared })
  let e = 0
  for (let j = 0; j < cols; j++) {
    const first = symmetry === 'general' ? 0 : symmetry === 'skew-symmetric' ? j + 1 : j
    for (let i = first; i < rows; i++, e++) {
      if (!reader.nextContentLine()) reader.fail(`${declared} entries`, `the end of the file after ${e}`)
      entries.addUnlessZero(i, j)
      reader.endOfLine()
    }
  }
  if (reader.nextContentLine()) reader.fail(`the end of the file after ${declared} entries`, 'another line')
  return compressTriplets(entries.triplets())
}

function nextContentLine(reader: LineReader, expected: string): void {
  if (!reader.nextContentLine()) reader.fail(expected, 'the end of the file')
}

function checkSquare(reader: LineReader, symmetry: Symmetry, rows: number, cols: number): void {
  if (symmetry !== 'general' && rows !== cols)
    reader.fail(`as many columns as rows in a ${symmetry} matrix`, `${rows} x ${cols}`)
}

/** Collects entries and mirrors those of one triangle. */
class Entries {
  readonly #reader: LineReader
  readonly #shape: { rows: number; cols: number; field: Field; symmetry: Symmetry }
  readonly #row: Int32Array
  readonly #col: Int32Array
  readonly #re: Float64Array
  readonly #im: Float64Array | null
  #count = 0

  constructor(
    reader: LineReader,
    shape: { rows: number; cols: number; field: Field; symmetry: Symmetry; declared: number },
  ) {
    const { declared, field, symmetry } = shape
    // An entry takes at least two bytes: what the size line promises is not allocated on its word alone.
    if (declared > reader.bytesLeft)
      reader.fail(`${declared} entries`, `only ${reader.bytesLeft} bytes after this line`)
    const capacity = symmetry === 'general' ? declared : 2 * declared
    this.#reader = reader
    this.#shape = shape
    this.#row = new Int32Array(capacity)
    this.#col = new Int32Array(capacity)
    this.#re = new Float64Array(capacity)
    this.#im = field === 'complex' ? new Float64Array(capacity) : null
  }

  /** Reads the value of entry (i, j) from the rest of the line. */
  add(i: number, j: number): void {
    const [re, im] = this.#value()
    this.#check(i, j, im)
    this.#push(i, j, re, im)
  }

  addUnlessZero(i: number, j: number): void {
    const [re, im] = this.#value()
    this.#check(i, j, im)
    if (re !== 0 || im !== 0) this.#push(i, j, re, im)
  }

  triplets(): Triplets {
    const { rows, cols } = this.#shape
    return {
      rows,
      cols,
      count: this.#count,
      row: this.#row,
      col: this.#col,
      values: this.#re,
      imag: this.#im,
    }
  }

  #value(): readonly [re: number, im: number] {
    switch (this.#shape.field) {
      case 'pattern':
        return [1, 0]
      case 'real':
        return [this.#reader.number('a number'), 0]
      case 'integer':
        return [this.#reader.integer('an integer'), 0]
      case 'complex':
        return [this.#reader.number('a real part'), this.#reader.number('an imaginary part')]
    }
  }

  #check(i: number, j: number, im: number): void {
    const { symmetry } = this.#shape
    if (symmetry === 'general') return
    const entry = `row ${i + 1}, column ${j + 1}`
    if (i < j)
      this.#reader.fail(`only entries on or below the diagonal of a ${symmetry} matrix`, `one at ${entry}`)
    if (i !== j) return
    if (symmetry === 'skew-symmetric')
      this.#reader.fail('no diagonal entries in a skew-symmetric matrix', `one at ${entry}`)
    if (symmetry === 'hermitian' && im !== 0)
      this.#reader.fail('a real diagonal in a hermitian matrix', `imaginary part ${im} at ${entry}`)
  }

  #push(i: number, j: number, re: number, im: number): void {
    this.#store(i, j, re, im)
    const { symmetry } = this.#shape
    if (symmetry === 'general' || i === j) return
    if (symmetry === 'symmetric') this.#store(j, i, re, im)
    else if (symmetry === 'hermitian') this.#store(j, i, re, -im)
    else this.#store(j, i, -re, -im)
  }

  #store(i: number, j: number, re: number, im: number): void {
    const e = this.#count++
    this.#row[e] = i
    this.#col[e] = j
    this.#re[e] = re
    if (this.#im !== null) this.#im[e] = im
  }
}
