import { requireKnownOptions, requireOptions, requireText } from '../../base/known-options.js'
import { uncheckedOptions } from '../../base/option.js'
import { asSource, type ByteSource } from '../../text/byte-source.js'
import { formatDouble } from '../../text/printable.js'
import {
  expanded,
  type FilePart,
  type OpenSource,
  openFileLines,
  openSourceFile,
  type ReadProgress,
  withSource,
} from '../../text/source-file.js'
import { TextReader } from '../../text/text-reader.js'
import { transposeRows } from '../compressed-rows.js'
import { distinctEdges } from '../distinct-edges.js'
import { checkTopologySize } from '../limits.js'
import type { ProcessTopology } from '../process-topology.js'
import { unweightedTopology } from '../topology-builders.js'
import type { FileNotes } from './file-notes.js'
import { compressTriplets, requireMatrix, type SparseMatrix, type Triplets } from './sparse-matrix.js'

/**
 * Reads Matrix Market text, as {@link readMatrixMarket} reads a file. Explicit zeros of a coordinate file are
 * stored, zeros of an array are not. One entry per line; blank lines and `%` comments may occur anywhere. The
 * entries of a size line are allocated only if the text is long enough to hold them.
 *
 * @param file name in messages
 * @throws ERR_MATRIX_MARKET with file, line and column
 */
export function parseMatrixMarket(source: string | Uint8Array | ByteSource, file = 'matrix'): SparseMatrix {
  const entries = new Entries()
  readEntries(source, file, (header, sizeKnown) => entries.begin(header, sizeKnown))
  return compressTriplets(entries.triplets())
}

const readOptions = uncheckedOptions('onProgress', 'open', 'file')

/**
 * Reads a Matrix Market file, piece by piece: coordinate or array; real, integer, unsigned-integer, pattern
 * (entries are 1) or complex; general, symmetric, skew-symmetric or hermitian, expanded to both triangles. Repeated entries are
 * summed in file order. A gzip file is expanded on the way. Memory: 28 bytes per entry at most, complex 44.
 *
 * @param from the path of a file; or its bytes, or a source, which is closed (of a text: `sourceOf(text)`)
 * @throws ERR_FILE, ERR_MATRIX_MARKET with file, line and column
 * @see NIST, The Matrix Market Exchange Formats (NISTIR 5935)
 */
export function readMatrixMarket(
  from: string | Uint8Array | ByteSource,
  options: {
    /** Receives the progress of the read. */
    readonly onProgress?: ReadProgress
    /** Opens the path. Default: a file on disk. */
    readonly open?: OpenSource
    /** The name in messages. Default: the path. */
    readonly file?: string
  } = {},
): SparseMatrix {
  requireKnownOptions('readMatrixMarket', options, readOptions)
  if (typeof from === 'string')
    return withSource(from, (source) => parseMatrixMarket(source, options.file ?? from), options)
  const { file = 'matrix' } = options
  return withSource(file, (source) => parseMatrixMarket(source, file), {
    ...options,
    open: () => asSource(from),
  })
}

/** Collects entries in arrays that grow if the size of the file is unknown. */
class Entries {
  #shape: Pick<MatrixMarketHeader, 'rows' | 'cols'> = { rows: 0, cols: 0 }
  #row = new Int32Array(0)
  #col = new Int32Array(0)
  #re = new Float64Array(0)
  #im: Float64Array | null = null
  #count = 0

  begin(header: MatrixMarketHeader, sizeKnown: boolean): TakeEntry {
    const { declared, field, symmetry } = header
    const all = symmetry === 'general' ? declared : 2 * declared
    const capacity = sizeKnown ? all : Math.min(all, 1 << 16)
    this.#shape = header
    this.#im = field === 'complex' ? new Float64Array(0) : null
    this.#resize(capacity)
    return (i, j, re, im) => {
      if (this.#count === this.#row.length) this.#resize(Math.min(all, 2 * this.#count))
      const e = this.#count++
      this.#row[e] = i
      this.#col[e] = j
      this.#re[e] = re
      if (this.#im !== null) this.#im[e] = im
    }
  }

  #resize(capacity: number): void {
    const grown = <T extends Int32Array | Float64Array>(array: T, larger: T): T => {
      larger.set(array)
      return larger
    }
    this.#row = grown(this.#row, new Int32Array(capacity))
    this.#col = grown(this.#col, new Int32Array(capacity))
    this.#re = grown(this.#re, new Float64Array(capacity))
    if (this.#im !== null) this.#im = grown(this.#im, new Float64Array(capacity))
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
}

/**
 * Reads the topology of a Matrix Market file distributed over ranks, as `topologyFromMatrix` makes it, without storing
 * the matrix. Memory is bounded by the edges between ranks, however many entries the file has.
 *
 * @param notes takes what is odd among the entries; they are retained for it
 * @throws ERR_MATRIX_MARKET with file, line and column; ERR_TOPOLOGY
 * @see Ghazimirsaeed 2019 §7.6.3
 */
export function topologyFromMatrixMarket(
  source: string | Uint8Array | ByteSource,
  options: { readonly ranks: number; readonly file?: string },
  notes: FileNotes | null = null,
): ProcessTopology {
  requireOptions('topologyFromMatrixMarket', options)
  const { ranks, file = 'matrix' } = options
  checkTopologySize('topology of a matrix', ranks, 0)
  const edges = distinctEdges(ranks)
  const begin = ({ rows, cols }: MatrixMarketHeader): TakeEntry => {
    const receiverOf = blockOf(rows, ranks)
    const senderOf = blockOf(cols, ranks)
    return (row, col) => {
      const receiver = receiverOf(row)
      const sender = senderOf(col)
      if (receiver !== sender) edges.add(receiver, sender)
    }
  }
  readEntries(source, file, begin, 'ignored', notes)
  const into = edges.toRows()
  checkTopologySize('topology of a matrix', ranks, into.rank.length)
  return unweightedTopology(transposeRows(ranks, into), into)
}

/** Returns a function from an element to its block of `blockBounds`. */
function blockOf(count: number, parts: number): (index: number) => number {
  const size = Math.floor(count / parts)
  const larger = count % parts
  const inLarger = larger * (size + 1)
  return (index) =>
    index < inLarger ? Math.floor(index / (size + 1)) : larger + Math.floor((index - inLarger) / size)
}

const formatOptions = uncheckedOptions('pattern', 'comment')

/**
 * Returns the text of a matrix in Matrix Market coordinate format, general: row by row, real or complex, or without
 * values. `parseMatrixMarket` reads back the same matrix, bit for bit.
 */
export function formatMatrixMarket(
  matrix: SparseMatrix,
  options: { readonly pattern?: boolean; readonly comment?: string } = {},
): string {
  requireMatrix('formatMatrixMarket', matrix)
  requireKnownOptions('formatMatrixMarket', options, formatOptions)
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
 * @param notes takes the stored entries of a coordinate file
 * @throws ERR_MATRIX_MARKET with file, line and column
 */
function readEntries(
  source: string | Uint8Array | ByteSource,
  file: string,
  begin: (header: MatrixMarketHeader, sizeKnown: boolean) => TakeEntry,
  values: 'read' | 'ignored' = 'read',
  notes: FileNotes | null = null,
): void {
  const reader = new TextReader(source, { file, ...matrixMarketText })
  const header = readMatrixMarketHeader(reader)
  const take = withMirrorImage(header, begin(header, reader.bytesLeft !== null))
  const noted = notes === null || header.format === 'array' ? take : withNotes(notes, header, reader, take)
  new EntryLines(reader, header, noted, { ...wholeFile, values }).read(Infinity)
  notes?.textForm(reader)
}

/** Returns a function that notes every stored entry, as an edge from its column to its row, and passes it on. */
function withNotes(
  notes: FileNotes,
  { field, symmetry, rows, cols }: MatrixMarketHeader,
  reader: TextReader,
  take: TakeEntry,
): TakeEntry {
  if (field !== 'pattern') notes.leftOut = 'values of entries'
  notes.edgeTraits = {
    name: (col, row) => `entry in row ${row + 1}, column ${col + 1}`,
    hasOddLoops: false,
    hasDirections: symmetry === 'general' && rows === cols,
  }
  return (row, col, re, im) => {
    notes.edge(reader.line, col, row)
    take(row, col, re, im)
  }
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
interface EntryPart {
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

/** The largest matrix that is read: row starts and entries have 32-bit indices and must fit into memory. */
const matrixLimits = { rows: 2 ** 25, entries: 2 ** 27 } as const

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

/** The beginning of a Matrix Market file, and the place of its entries. */
export interface MatrixMarketHead {
  readonly header: MatrixMarketHeader
  /** The number of lines up to the end of the size line. */
  readonly lines: number
  /**
   * The bytes up to the end of the size line, and those of the file. Null for a source that can only be read from the
   * front, such as gzip or a pipe.
   */
  readonly bytes: { readonly head: number; readonly file: number } | null
}

/** A file whose head has been read. */
interface OpenMatrixMarket {
  readonly head: MatrixMarketHead
  /** Reads all of its entries, as stored. */
  entries(take: TakeEntry): EntryLines
  close(): void
}

/** Opens a Matrix Market file and reads its head. @throws ERR_FILE, ERR_MATRIX_MARKET */
export function openMatrixMarket(path: string, open: OpenSource = openSourceFile): OpenMatrixMarket {
  const file = open(path)
  const close = () => file.close()
  try {
    const { source, isCompressed } = expanded(file, path)
    const reader = new TextReader(source, { file: path, ...matrixMarketText })
    const header = readMatrixMarketHeader(reader)
    // The size line may be followed by its line end or by nothing.
    const head = Math.min(reader.here() + 1, file.sizeBytes ?? 0)
    return {
      head: {
        header,
        lines: reader.line,
        bytes: isCompressed || file.sizeBytes === null ? null : { head, file: file.sizeBytes },
      },
      entries: (take) => new EntryLines(reader, header, take),
      close,
    }
  } catch (error) {
    close()
    throw error
  }
}

interface PartSize {
  readonly bytes: number
  readonly lines: number
  /** The number of lines with an entry. */
  readonly entries: number
}

/** Counts the lines of a part, in constant memory. @throws ERR_FILE */
export function measurePart(path: string, part: FilePart): PartSize {
  const source = openFileLines(path, part)
  try {
    const bytes = source.sizeBytes!
    const reader = new TextReader(source, { file: path, ...matrixMarketText, linesBefore: 1 })
    let lines = 0
    let entries = 0
    for (; reader.nextLine(); lines++) if (!reader.atLineEnd() && !reader.atComment()) entries++
    return { bytes, lines, entries }
  } finally {
    source.close()
  }
}

/** Opens the entries of a part, as stored; `close` ends the reading. @throws ERR_FILE */
export function openPart(
  path: string,
  part: FilePart,
  {
    header,
    before,
    isLast,
    take,
  }: {
    readonly header: MatrixMarketHeader
    /** The lines and entries of the head and of the parts before. */
    readonly before: Pick<PartSize, 'lines' | 'entries'>
    /** Whether no later part has a line. */
    readonly isLast: boolean
    readonly take: TakeEntry
  },
): { readonly entries: EntryLines; close(): void } {
  const source = openFileLines(path, part)
  const reader = new TextReader(source, { file: path, ...matrixMarketText, linesBefore: before.lines })
  const entries = new EntryLines(reader, header, take, { first: before.entries, isLast })
  return { entries, close: () => source.close() }
}
