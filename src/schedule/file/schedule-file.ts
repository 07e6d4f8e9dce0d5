import { requireKnownOptions } from '../../base/known-options.js'
import { uncheckedOptions } from '../../base/option.js'
import { type ByteSource, longestText } from '../../text/byte-source.js'
import { type OpenSource, withSource } from '../../text/source-file.js'
import { writeWholeFile } from '../../text/whole-file.js'
import type { Schedule } from '../ir.js'
import { failAtLine } from './checked-values.js'
import { type FormatOptions, formatSchedule } from './format-schedule.js'
import { parseSchedule } from './reader.js'

/**
 * Writes a schedule as JSON Lines. The file appears complete or not at all: it is written to a temporary file
 * in the same folder and renamed. An existing file keeps its permissions, and a link to it remains a link. A
 * name that ends in `.gz` makes it a gzip file.
 *
 * @throws ERR_FILE, also when the path is that of a directory or device
 * @throws ERR_SCHEDULE_VERSION when the version cannot express the schedule
 */
export async function writeScheduleFile(
  path: string,
  schedule: Schedule,
  options: FormatOptions = {},
): Promise<void> {
  await writeWholeFile(path, scheduleText(schedule, options))
}

/** Yields a schedule as JSON Lines, line by line. @throws ERR_SCHEDULE_VERSION */
export function scheduleText(schedule: Schedule, options: FormatOptions = {}): Iterable<string> {
  return withLineEnds(formatSchedule(schedule, options))
}

function* withLineEnds(lines: Iterable<string>): Generator<string> {
  for (const line of lines) yield `${line}\n`
}

/**
 * Reads a schedule line by line. A gzip file is expanded on the way.
 *
 * @throws ERR_FILE when the file cannot be read
 * @throws ERR_SCHEDULE_FORMAT when it is not a schedule
 */
export async function readScheduleFile(
  path: string,
  options: { /** Opens the file. Default: from disk. */ readonly open?: OpenSource } = {},
): Promise<Schedule> {
  requireKnownOptions('readScheduleFile', options, uncheckedOptions('open'))
  return withSource(path, (source) => parseSchedule(linesIn(source, path), path), options)
}

/**
 * @internal Yields the lines of a source.
 *
 * @param most characters of a line; by default those of the longest text
 * @throws ERR_SCHEDULE_FORMAT with file and line for a longer line, such as that of a device without an end
 */
export function* linesIn(
  source: ByteSource,
  file: string,
  most = longestText,
): Generator<string, void, undefined> {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  const buffer = new Uint8Array(chunkBytes)
  let pieces: string[] = [] // the pieces of a line that spans chunks
  let length = 0 // of these pieces
  let line = 1
  for (let count = source.read(buffer); count > 0; count = source.read(buffer)) {
    const lines = decoder.decode(buffer.subarray(0, count), { stream: true }).split('\n')
    pieces.push(lines[0])
    length += lines[0].length
    if (length > most)
      failAtLine(file, line, `expected a line of at most ${most} characters, got a longer one`)
    for (let i = 1; i < lines.length; i++) {
      yield pieces.join('')
      pieces = [lines[i]]
      length = lines[i].length
      line++
    }
  }
  pieces.push(decoder.decode())
  yield pieces.join('')
}

const chunkBytes = 1 << 16
