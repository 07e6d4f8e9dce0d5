import { type FilePart, openFileLines } from '../../text/file-lines.js'
import { expanded, type OpenSource, openSourceFile } from '../../text/source-file.js'
import { TextReader } from '../../text/text-reader.js'
import { EntryLines, matrixMarketText, type TakeEntry } from './matrix-market-entries.js'
import { type MatrixMarketHeader, readMatrixMarketHeader } from './matrix-market-header.js'

/** What a Matrix Market file begins with, and where its entries are. */
export interface MatrixMarketHead {
  readonly header: MatrixMarketHeader
  /** Lines up to the size line. */
  readonly lines: number
  /**
   * Bytes up to the end of the size line, and of the file; null where it can only be read from the front:
   * gzip, a pipe.
   */
  readonly bytes: { readonly head: number; readonly file: number } | null
}

/** A file whose head has been read. */
export interface OpenMatrixMarket {
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
    // Behind the size line is its line end, or nothing.
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

/** How much a part of a file holds. */
export interface PartSize {
  readonly bytes: number
  readonly lines: number
  /** Lines with an entry. */
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

/** The entries of a part, as stored; `close` ends the reading. @throws ERR_FILE */
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
    /** What the head and the parts before hold. */
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
