import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { isRankweaveError, RankweaveError, wrongValue } from '../../errors.js'
import { readTraceLines, type TraceHeader } from '../../messages/matching-queues/matching-trace.js'
import { PackedTrace } from '../../messages/matching-queues/packed-replay.js'
import type { ByteSource } from '../../text/byte-source.js'
import { readingFile, withSource } from '../../text/source-file.js'

/** The most operations of a rank that are read, its first: 24 bytes each. */
export const mostReadOperations = 1_000_000

/** The longest line of a trace; a longer one shows that the file has none. */
const longestLineBytes = 1_000_000
const mostFiles = 65_536
const chunkBytes = 1 << 16

/** The file of a rank, of which only the first line has been read. */
export interface TraceFile {
  readonly file: string
  readonly header: TraceHeader
}

/** The operations of a file, which are held. */
export interface LoadedTrace {
  readonly trace: PackedTrace
  /** Whether the run had more operations than were recorded. */
  readonly bounded: boolean
  /** Whether the file has more operations than are read; the rest is skipped. */
  readonly shortened: boolean
}

/**
 * Returns the files of one run, in the order of their ranks.
 *
 * @param paths files, and directories whose `*.jsonl` and `*.jsonl.gz` are read
 * @throws ERR_FILE naming the file, for anything that is neither, for one without a trace, for two of one rank, and for
 *   files of worlds of different sizes
 */
export function findTraceFiles(paths: readonly string[]): TraceFile[] {
  const names = paths.flatMap(filesOf)
  if (names.length > mostFiles)
    throw wrongValue('ERR_FILE', `expected at most ${mostFiles} files of traces`, names.length)
  const files = names.map((file): TraceFile => ({ file, header: ofTrace(file, ({ header }) => header) }))
  const byRank = new Map<number, string>()
  for (const { file, header } of files) {
    const { rank, processes } = header
    const other = byRank.get(rank)
    if (other !== undefined)
      throw fileError(file, `'${other}' and '${file}' are both of rank ${rank}: expected one file a rank`)
    byRank.set(rank, file)
    const [first] = files
    if (processes !== first.header.processes) {
      const message = `'${file}' is of ${processes} processes, '${first.file}' of ${first.header.processes}: expected traces of one run`
      throw fileError(file, message)
    }
  }
  return files.sort((a, b) => a.header.rank - b.header.rank)
}

/** Reads the operations of a file. @throws ERR_FILE naming file and line */
export function readTraceFile({ file }: TraceFile): LoadedTrace {
  return ofTrace(file, ({ header, operations, end }) => {
    const trace = new PackedTrace(header)
    for (const operation of operations) {
      if (trace.length === mostReadOperations) return { trace, bounded: end.bounded, shortened: true }
      try {
        trace.push(operation)
      } catch (cause) {
        // The first line is the header.
        throw fileError(file, `line ${trace.length + 2} of a trace: ${(cause as Error).message}`, cause)
      }
    }
    return { trace, bounded: end.bounded, shortened: false }
  })
}

function filesOf(path: string): string[] {
  const status = readingFile(path, () => statSync(path))
  if (status.isFile()) return [path]
  // A pipe without a writer, or a device without an end, would be read without end.
  if (!status.isDirectory()) throw fileError(path, `'${path}': expected a file or a directory, got neither`)
  const found = readingFile(path, () => readdirSync(path)).filter((name) => /\.jsonl(\.gz)?$/.test(name))
  if (found.length === 0) {
    const hint = 'files rank-0.jsonl and so on, as run --trace-matching writes them'
    throw fileError(path, `'${path}': expected ${hint}, got a directory without any`)
  }
  const files = found.sort().map((name) => join(path, name))
  for (const file of files)
    if (!readingFile(file, () => statSync(file)).isFile())
      throw fileError(file, `'${file}': expected a regular file`)
  return files
}

/** @throws ERR_FILE naming the file too */
function ofTrace<T>(file: string, read: (trace: ReturnType<typeof readTraceLines>) => T): T {
  return withSource(file, (source) => {
    try {
      return read(readTraceLines(linesOf(source)))
    } catch (error) {
      if (!isRankweaveError(error, 'ERR_FILE') || error.message.includes(`'${file}'`)) throw error
      throw fileError(file, error.message, error)
    }
  })
}

/** Yields the lines of a source, without their ends. Memory: that of the longest line. @throws ERR_FILE */
function* linesOf(source: ByteSource): Generator<string> {
  const chunk = Buffer.alloc(chunkBytes)
  /** The pieces of a line that goes beyond a chunk. */
  let pieces: Buffer[] = []
  let held = 0
  let line = 1
  const whole = (end: Buffer): string => {
    const text = pieces.length === 0 ? end.toString() : Buffer.concat([...pieces, end]).toString()
    pieces = []
    held = 0
    line++
    return text.endsWith('\r') ? text.slice(0, -1) : text
  }
  for (let count = source.read(chunk); count > 0; count = source.read(chunk)) {
    let from = 0
    for (let at = chunk.indexOf(10); at >= 0 && at < count; at = chunk.indexOf(10, from)) {
      yield whole(chunk.subarray(from, at))
      from = at + 1
    }
    held += count - from
    if (held > longestLineBytes)
      throw new RankweaveError(
        'ERR_FILE',
        `line ${line} of a trace: expected at most ${longestLineBytes} bytes`,
      )
    if (from < count) pieces.push(Buffer.from(chunk.subarray(from, count)))
  }
  if (held > 0) yield whole(Buffer.alloc(0))
}

function fileError(file: string, message: string, cause?: unknown): RankweaveError {
  const text = message.includes(`'${file}'`) ? message : `'${file}': ${message}`
  return new RankweaveError('ERR_FILE', text, { details: { file }, cause })
}
