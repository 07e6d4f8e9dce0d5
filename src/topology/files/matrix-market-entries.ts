import type { ByteSource } from '../../text/byte-source.js'
import { TextReader } from '../../text/text-reader.js'
import { type MatrixMarketHeader, readMatrixMarketHeader } from './matrix-market-header.js'

/** Takes one entry, 0-based; a pattern's entries are 1, a real matrix has no imaginary parts. */
export type TakeEntry = (row: number, col: number, re: number, im: number) => void

/** The options with which a {@link TextReader} reads Matrix Market files. */
export const matrixMarketText = { code: 'ERR_MATRIX_MARKET', comment: '%' } as const

/**
 * Reads a Matrix Market file entry by entry in constant memory. Entries come in file order, each followed by
 * its mirror image unless the matrix is general; zeros of an array are left out.
 *
 * @param begin called with the header; returns what takes the entries
 * @param values `ignored`: entries of a coordinate file are taken as 1, whatever their values are, `nan` and numbers that no
 *   double holds included
 * @throws ERR_MATRIX_MARKET with file, line and column
 */
export function readEntries(
  source: string | Uint8Array | ByteSource,
  file: string,
  begin: (header: MatrixMarketHeader, sizeKnown: boolean) => TakeEntry,
  values: 'read' | 'ignored' = 'read',
): void {
  const reader = new TextReader(source, { file, ...matrixMarketText })
  const header = readMatrixMarketHeader(reader)
  const take = withMirrorImage(header, begin(header, reader.bytesLeft !== null))
  new EntryLines(reader, header, take, { ...wholeFile, values }).read(Infinity)
}

/**
 * Returns a function that takes stored entries and passes each on with its mirror image. Stored entries are of one
 * triangle only, unless the matrix is general.
 */
export function withMirrorImage({ symmetry }: MatrixMarketHeader, take: TakeEntry): TakeEntry {
  if (symmetry === 'general') return take
  const mirrorRe = symmetry === 'skew-symmetric' ? -1 : 1
  const mirrorIm = symmetry === 'symmetric' ? 1 : -1
  return (i, j, re, im) => {
    take(i, j, re, im)
    if (i !== j) take(j, i, mirrorRe * re, mirrorIm * im)
  }
}

/** The place of some lines among the entries of a file. */
export interface EntryPart {
  /** The number of entries on lines before these. */
  readonly first: number
  /** Whether the file ends with these lines. */
  readonly isLast: boolean
  /** Default: `read`. */
  readonly values?: 'read' | 'ignored'
}

const wholeFile: EntryPart = { first: 0, isLast: true }

/** Reads the entries of a file, or of some of its lines, as they are stored. */
export class EntryLines {
  readonly #reader: TextReader
  readonly #header: MatrixMarketHeader
  readonly #part: EntryPart
  readonly #take: (i: number, j: number, begin: number) => void
  #done: number
  /** The row of an array's next entry. */
  #row = 0
  #col = 0

  /** @param reader before the first of these lines */
  constructor(reader: TextReader, header: MatrixMarketHeader, take: TakeEntry, part: EntryPart = wholeFile) {
    this.#reader = reader
    this.#header = header
    this.#part = part
    this.#done = part.first
    const isArray = header.format === 'array'
    const takeNonzero: TakeEntry = (i, j, re, im) => {
      if (re !== 0 || im !== 0) take(i, j, re, im)
    }
    this.#take =
      part.values === 'ignored' && !isArray
        ? placeReader(reader, header, take)
        : entryReader(reader, header, isArray ? takeNonzero : take)
    if (isArray) this.#placeInArray(part.first)
  }

  /**
   * Reads up to `most` lines with an entry; false once none is left.
   *
   * @throws ERR_MATRIX_MARKET with file, line and column, also for more or fewer entries than declared
   */
  read(most: number): boolean {
    const reader = this.#reader
    const { declared } = this.#header
    for (let read = 0; read < most; read++) {
      if (!reader.nextContentLine()) {
        if (this.#part.isLast && this.#done < declared)
          reader.fail(`${declared} entries`, `the end of the file after ${this.#done}`)
        return false
      }
      if (this.#done === declared)
        reader.fail(`the end of the file after ${declared} entries`, 'another line')
      this.#done++
      this.#readLine()
    }
    return true
  }

  #readLine(): void {
    const reader = this.#reader
    const { format, rows, cols } = this.#header
    const begin = reader.here()
    if (format === 'coordinate') {
      const i = reader.whole('a row', 1, rows) - 1
      const j = reader.whole('a column', 1, cols) - 1
      this.#take(i, j, begin)
    } else {
      this.#take(this.#row, this.#col, begin)
      if (++this.#row === rows) this.#row = this.#firstRowOf(++this.#col)
    }
    reader.endOfLine()
  }

  /** Returns the first row that an array of this symmetry stores of a column. */
  #firstRowOf(col: number): number {
    const { symmetry } = this.#header
    if (symmetry === 'general') return 0
    return symmetry === 'skew-symmetric' ? col + 1 : col
  }

  #placeInArray(entry: number): void {
    const { rows, cols } = this.#header
    let left = entry
    let col = 0
    while (col < cols && left >= rows - this.#firstRowOf(col)) left -= rows - this.#firstRowOf(col++)
    this.#col = col
    this.#row = this.#firstRowOf(col) + left
  }
}

/** Reads the value of entry (i, j) from the rest of the line, and passes it on. */
function entryReader(
  reader: TextReader,
  { field, symmetry }: MatrixMarketHeader,
  take: TakeEntry,
): (i: number, j: number, begin: number) => void {
  const general = symmetry === 'general'
  return (i, j, begin) => {
    if (!general) checkTriangle(reader, symmetry, i, j, begin)
    let re = 1
    let im = 0
    if (field === 'real') re = reader.number('a number')
    else if (field === 'integer' || field === 'unsigned-integer') re = reader.integer('an integer')
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
  }
}

/** Skips the value of entry (i, j), and passes on where it is. */
function placeReader(
  reader: TextReader,
  { field, symmetry }: MatrixMarketHeader,
  take: TakeEntry,
): (i: number, j: number, begin: number) => void {
  const words = { pattern: 0, complex: 2, real: 1, integer: 1, 'unsigned-integer': 1 }[field]
  return (i, j, begin) => {
    if (symmetry !== 'general') checkTriangle(reader, symmetry, i, j, begin)
    for (let word = 0; word < words; word++) if (reader.word() === '') reader.fail('a value', reader.shown())
    take(i, j, 1, 0)
  }
}

function checkTriangle(reader: TextReader, symmetry: string, i: number, j: number, begin: number): void {
  const entry = `one at row ${i + 1}, column ${j + 1}`
  if (i < j) reader.fail(`only entries on or below the diagonal of a ${symmetry} matrix`, entry, begin)
  if (i === j && symmetry === 'skew-symmetric')
    reader.fail('no diagonal entries in a skew-symmetric matrix', entry, begin)
}
