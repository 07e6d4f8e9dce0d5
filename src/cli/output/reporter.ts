import type { Command } from 'commander'
import { printableLines } from '../../text/printable.js'
import type { ReadProgress } from '../../text/source-file.js'
import type { GroupingProgress } from '../../topology/friends/grouping-options.js'
import type { ExitCode } from './exit-codes.js'
import type { OwnWords } from './own-command.js'
import { counted, figure, objectOf, type ResultRow, textOf } from './result-rows.js'
import type { Streams } from './streams.js'

/** The reports of a command: its result once on standard output, everything else on standard error. */
export interface Reporter {
  readonly streams: Streams
  readonly json: boolean
  /** Makes command lines in a text start as users can type them; lines, results and rows are so already. */
  readonly ownWords: OwnWords
  /** Writes a line on standard error: warnings, reasons, files written. */
  note(line: string): void
  /** Shows the next step of the command on a terminal, once the command has taken a second. */
  step(line: string): void
  /** Shows the progress of long work: at most one line a second on a terminal, one a minute elsewhere. No other is made. */
  progress(line: () => string): void
  /** Prints the command's result: one JSON object with `--json`, else the text. Called once. */
  result(object: unknown, text: string): void
  /** Prints rows as the command's result, below a heading of the text. */
  rows(rows: readonly ResultRow[], heading?: string): void
}

/** The action of a subcommand: it reports its result, or throws the error in its input. No exit code is success. */
type Action<A extends unknown[]> = (report: Reporter, ...args: A) => Promise<ExitCode> | Promise<void>

/** A function that binds an action to this run's reporter and exit code. */
export type Act = <A extends unknown[]>(action: Action<A>) => (...args: A) => Promise<void>

/** A function that adds arguments, options and action to a subcommand, which has its name and description. */
export type AddCommand = (command: Command, act: Act) => void

const progressMs = 1000

/** Logs of long jobs show that they still run. */
const logMs = 60_000

/** @param ownWords default: a text stays as it is */
export function reporter(
  streams: Streams,
  json: boolean,
  now = () => performance.now(),
  ownWords: OwnWords = (text) => text,
): Reporter {
  const note = (line: string) => streams.stderr(`${printableLines(ownWords(line))}\n`)
  const beganMs = now()
  let shownMs = beganMs
  let pending: NodeJS.Timeout | undefined
  const show = (line: string) => {
    shownMs = now()
    note(line)
  }
  const result = (object: unknown, text: string) => {
    clearTimeout(pending)
    streams.stdout(`${json ? ownWords(JSON.stringify(object), 'json') : printableLines(ownWords(text))}\n`)
  }
  return {
    streams,
    json,
    ownWords,
    note,
    step: (line) => {
      if (!streams.showsProgress) return
      clearTimeout(pending)
      const leftMs = progressMs - (now() - beganMs)
      if (leftMs <= 0) show(line)
      else pending = setTimeout(show, leftMs, line).unref()
    },
    progress: (line) => {
      if (now() - shownMs < (streams.showsProgress ? progressMs : logMs)) return
      show(line())
    },
    result,
    rows: (rows, heading) => result(objectOf(rows), textOf(rows, heading)),
  }
}

/** Shows the progress of planning, from inside the search for friend groups. */
export function groupProgress(report: Reporter, what = 'planning'): (progress: GroupingProgress) => void {
  return ({ step, groups, searches, activity, possible }) =>
    report.progress(() => {
      if (activity === 'listing' || activity === 'solving') {
        const listed = counted(possible, 'possible group', 'possible groups')
        return `${what}: step ${step + 1}, ${activity === 'listing' ? 'listing' : 'choosing among'} ${listed}`
      }
      const found = groups === 0 ? '' : `, ${counted(groups, 'group', 'groups')}`
      const improving = activity === 'improving' ? ', improving' : ''
      return `${what}: step ${step + 1}${improving}, ${counted(searches, 'search', 'searches')}${found}`
    })
}

/** Shows the progress of reading a file. */
export function readProgress(report: Reporter, what: string): ReadProgress {
  const megabytes = (bytes: number) => `${figure(Math.round(bytes / 1e5) / 10)} MB`
  return (read, size) =>
    report.progress(() =>
      size === null
        ? `reading ${what}: ${megabytes(read)}`
        : `reading ${what}: ${Math.floor((100 * read) / Math.max(1, size))}% of ${megabytes(size)}`,
    )
}
