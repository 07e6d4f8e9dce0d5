import { printableLines } from '../../text/printable.js'
import type { ReadProgress } from '../../text/source-file.js'
import type { GroupingProgress } from '../../topology/friends/grouping-options.js'
import type { Streams } from './streams.js'

/** The reports of a command: its result once on standard output, everything else on standard error. */
export interface Reporter {
  readonly streams: Streams
  readonly json: boolean
  /** Writes a line on standard error: warnings, reasons, files written. */
  note(line: string): void
  /** Shows the next step of the command on a terminal, once the command has taken a second. */
  step(line: string): void
  /** Shows the progress of long work on a terminal, at most one line a second; other lines are not even made. */
  progress(line: () => string): void
  /** Prints the command's result: one JSON object with `--json`, else the text. Called once. */
  result(object: unknown, text: string): void
}

const progressMs = 1000

export function reporter(streams: Streams, json: boolean, now = () => performance.now()): Reporter {
  const note = (line: string) => streams.stderr(`${printableLines(line)}\n`)
  const beganMs = now()
  let shownMs = beganMs
  let pending: NodeJS.Timeout | undefined
  const show = (line: string) => {
    shownMs = now()
    note(line)
  }
  return {
    streams,
    json,
    note,
    step: (line) => {
      if (!streams.showsProgress) return
      clearTimeout(pending)
      const leftMs = progressMs - (now() - beganMs)
      if (leftMs <= 0) show(line)
      else pending = setTimeout(show, leftMs, line).unref()
    },
    progress: (line) => {
      if (!streams.showsProgress || now() - shownMs < progressMs) return
      show(line())
    },
    result: (object, text) => {
      clearTimeout(pending)
      streams.stdout(`${json ? JSON.stringify(object) : printableLines(text)}\n`)
    },
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

/** Puts labels and values in two columns; a null value leaves the row out. */
export function table(rows: readonly (readonly [label: string, value: string | null])[]): string {
  const shown = rows.filter(([, value]) => value !== null)
  const width = Math.max(0, ...shown.map(([label]) => label.length))
  return shown.map(([label, value]) => `  ${label.padEnd(width)}  ${value}`).join('\n')
}

/** Puts cells in columns: the first left-aligned, the others right-aligned. */
export function columns(rows: readonly (readonly string[])[]): string {
  const widths = rows[0].map((_, c) => Math.max(...rows.map((row) => row[c].length)))
  const cell = (text: string, c: number) => (c === 0 ? text.padEnd(widths[c]) : text.padStart(widths[c]))
  return rows.map((row) => `  ${row.map(cell).join('  ')}`.trimEnd()).join('\n')
}

/** Prints 12345.678 as `12,345.68`; at most two digits after the point. */
export function figure(value: number): string {
  return value.toLocaleString('en-US', { maximumFractionDigits: 2 })
}

/** Returns `1 rank`, `2 ranks`. */
export function counted(count: number, one: string, more: string): string {
  return `${figure(count)} ${count === 1 ? one : more}`
}

/** Prints three digits, or the whole number if it has more: `0.123`, `12.3`, `1,235`. */
export function significant(value: number): string {
  return value >= 999.5 ? figure(Math.round(value)) : value.toPrecision(3)
}

export function secondsText(value: number): string {
  return value < 0.9995 ? `${significant(value * 1000)} ms` : `${value.toFixed(2)} s`
}

/**
 * Returns how many percent fewer or more `part` is than `whole`.
 *
 * @param less `less` for quantities that are not counted
 */
export function change(part: number, whole: number, less = 'fewer'): string {
  if (whole === 0 || part === whole) return 'the same'
  const percent = (100 * Math.abs(whole - part)) / whole
  return `${percent.toFixed(1)}% ${part < whole ? less : 'more'}`
}

/** Returns `min 10, mean 18.28, max 20`. */
export function rangeText({
  min,
  mean,
  max,
}: {
  readonly min: number
  readonly mean: number
  readonly max: number
}) {
  return `min ${figure(min)}, mean ${figure(mean)}, max ${figure(max)}`
}
