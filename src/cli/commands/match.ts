import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { processorMs } from '../../base/clock.js'
import { svgOf } from '../../document/picture.js'
import { isRankweaveError, RankweaveError, wrongValue } from '../../errors.js'
import {
  baselineDesign,
  compareRank,
  matchingVerdict,
  openMpiDesign,
  ownDesign,
  type ReplayProgress,
  summedDesigns,
} from '../../messages/matching-queues/compare-designs.js'
import type { QueueCounts } from '../../messages/matching-queues/design.js'
import {
  makeMatchingDesign,
  matchingDesignNames,
  matchingDesignsHelp,
  type NamedDesign,
  parsedMatchingDesign,
} from '../../messages/matching-queues/designs.js'
import { readTraceLines, type TraceHeader } from '../../messages/matching-queues/matching-trace.js'
import { PackedTrace } from '../../messages/matching-queues/packed-replay.js'
import { countSources } from '../../messages/matching-queues/replay.js'
import type { ByteSource } from '../../text/byte-source.js'
import { readingFile, withSource } from '../../text/source-file.js'
import { addOptions, json, option, readOptions } from '../input/options.js'
import {
  matchingComparisonText,
  matchingPicture,
  matchingVerdictText,
  type ReportedRank,
} from '../output/matching-comparison.js'
import { checkOutputs, reportBeside, requireDistinctFiles, writeOutput } from '../output/output-file.js'
import type { AddCommand, Reporter } from '../output/reporter.js'
import { figure } from '../output/result-rows.js'

/** The longest time of one replay with one design. */
const mostReplayMs = 10_000

/** The most operations of a rank that are read, its first: 24 bytes each. */
const mostReadOperations = 1_000_000

const help = `
Replays traces of message matching, which rankweave run --trace-matching writes, with several designs of matching
queues. It says what each design passes and takes, from which queue length on it is faster than a list, and whether the
program would gain by another one. TRACE is a file, or a directory with those of all ranks.
Of each rank the first ${figure(mostReadOperations)} operations are replayed; a replay is stopped after ${mostReplayMs / 1000} s. Times are processor time.

Designs, with their options after a colon (clusters:method=k-means,k=8); ${baselineDesign}, ${openMpiDesign} and ${ownDesign} are always among them:
${matchingDesignsHelp}

Examples:
  rankweave run program.ts -n 8 --trace-matching trace
  rankweave match trace --train earlier
  rankweave match trace --designs source-lists,bins:bins=1024 --svg matching.svg
  rankweave match trace/rank-0.jsonl --json`

const optionTable = {
  designs: option('--designs <list>', 'designs to compare, separated by commas (default: all)'),
  train: option('--train <trace>', 'traces of an earlier run, from which clusters and partners-static learn'),
  svg: option('--svg <file>', 'draw queue lengths over time, and what searches take by design'),
  json,
}

export const matchCommand: AddCommand = (command, act) => {
  addOptions(
    command.argument('<trace...>', 'files of traces, or a directory with those of all ranks'),
    optionTable,
  )
    .addHelpText('after', help)
    .action(
      act(async (report: Reporter, paths: readonly string[], raw: unknown) => {
        const { designs: given, train, svg } = readOptions(optionTable, raw)
        const designs = designsOf(given)
        await checkOutputs(report, svg)
        const files = findTraceFiles(paths)
        if (svg !== undefined)
          requireDistinctFiles(
            [{ option: '--svg', file: svg }],
            files.map(({ file }) => ({ option: 'trace', file })),
          )
        const training = train === undefined ? undefined : trainingOf(train, files)
        const ranks: ReportedRank[] = []
        const limits = {
          metered: { clock: () => performance.now(), mostMs: mostReplayMs },
          timed: { clock: () => processorMs('thread'), mostMs: mostReplayMs },
        }
        for (const [i, each] of files.entries()) {
          const { file, header } = each
          report.step(`replaying ${file}`)
          const progress: ReplayProgress = (design, made, planned) =>
            report.progress(
              () =>
                `replaying rank ${header.rank}, file ${i + 1} of ${files.length}: ${design}, replay ${made + 1} of ${made < planned ? planned : 'more'}`,
            )
          const { trace, bounded, shortened } = readTraceFile(each)
          ranks.push({
            ...compareRank(header.rank, trace, designs, limits, progress, training?.(header.rank)),
            file,
            bounded,
            shortened,
          })
        }
        const sums = summedDesigns(ranks)
        const verdict = matchingVerdict(ranks, sums, training !== undefined)
        const { worst = ranks[0] } = verdict
        if (svg !== undefined)
          await writeOutput(report, svg, svgOf(matchingPicture(worst, sums, paths.join(' '))))
        const object = {
          ranks: ranks.map(({ samples, designs: of, ...rank }) => ({
            ...rank,
            designs: of.map(designObject),
          })),
          designs: sums,
          verdict: {
            kind: verdict.kind,
            best: verdict.best.design.name,
            fewestPassed: verdict.fewestPassed.design.name,
            rank: verdict.worst?.rank ?? null,
            selfTrained: verdict.isSelfTrained,
            text: matchingVerdictText(verdict),
          },
          ...(svg === undefined ? {} : { svg }),
        }
        reportBeside(report, svg, object, matchingComparisonText(ranks, sums, verdict))
      }),
    )
}

/**
 * Returns the counts of an earlier run, from which the queues of each rank are made.
 *
 * @throws ERR_FILE for a run of other ranks or processes
 */
function trainingOf(path: string, files: readonly TraceFile[]): (rank: number) => QueueCounts {
  const byRank = new Map(findTraceFiles([path]).map((each) => [each.header.rank, each]))
  const fileOf = ({ file, header: { rank, processes } }: TraceFile): TraceFile => {
    const training = byRank.get(rank)
    if (training?.header.processes === processes) return training
    const got = training === undefined ? `none` : `one of ${training.header.processes} processes`
    throw new RankweaveError(
      'ERR_FILE',
      `--train '${path}': expected a trace of rank ${rank} of ${processes} processes, as '${file}' is, got ${got}`,
    )
  }
  for (const each of files) fileOf(each)
  return (rank) => {
    const { trace } = readTraceFile(byRank.get(rank)!)
    return countSources(trace.operations(), trace.facts)
  }
}

function designObject({ times, ...design }: ReportedRank['designs'][number]) {
  const last = times.searches.findLastIndex((count) => count > 0) + 1
  return {
    ...design,
    /** The times are by length of the queue: 0, 1, 2 to 3, 4 to 7, ... */
    byLength: [...times.searches.subarray(0, last)].map((searches, c) => ({ searches, ms: times.ms[c] })),
  }
}

/** Returns the designs, the baseline first. @throws ERR_ARGUMENT for an unknown design, ERR_USAGE for none */
function designsOf(text: string | undefined): NamedDesign[] {
  const texts = text === undefined ? matchingDesignNames : designTexts(text)
  const designs = texts.map(parsedMatchingDesign)
  // Bad options are refused before anything is read.
  const none = { posted: new Map(), unexpected: new Map() }
  for (const design of designs) makeMatchingDesign(design, 'posted', { processes: 1, counts: none })
  const others = designs.filter(({ name }) => name !== baselineDesign)
  const added = ([openMpiDesign, ownDesign] as const).filter((name) =>
    others.every((other) => other.name !== name),
  )
  return [{ name: baselineDesign }, ...added.map((name): NamedDesign => ({ name })), ...others]
}

/** Splits a list of designs; `k=8` belongs to the design before it. */
function designTexts(text: string): string[] {
  const texts: string[] = []
  for (const part of text.split(',')) {
    if (texts.length > 0 && /^[a-z]+=/.test(part)) texts.push(`${texts.pop()},${part}`)
    else texts.push(part)
  }
  return texts
}

/** The longest line of a trace; a longer one shows that the file has none. */
const longestLineBytes = 1_000_000
const mostFiles = 65_536
const chunkBytes = 1 << 16

/** The file of a rank, of which only the first line has been read. */
interface TraceFile {
  readonly file: string
  readonly header: TraceHeader
}

/** The operations of a file, which are held. */
interface LoadedTrace {
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
function findTraceFiles(paths: readonly string[]): TraceFile[] {
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
function readTraceFile({ file }: TraceFile): LoadedTrace {
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
