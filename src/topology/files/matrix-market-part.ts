import {
  expanded,
  type FilePart,
  type OpenSource,
  openFileLines,
  openSourceFile,
} from '../../text/source-file.js'
import { TextReader } from '../../text/text-reader.js'
import {
  EntryLines,
  type MatrixMarketHeader,
  matrixMarketText,
  readMatrixMarketHeader,
  type TakeEntry,
} from './matrix-market.js'

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
