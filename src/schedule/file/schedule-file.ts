import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import { isRankweaveError } from '../../errors.js'
import { fileError, writeWholeFile } from '../../text/whole-file.js'
import type { Schedule } from '../ir.js'
import { formatSchedule } from './format-schedule.js'
import { parseScheduleStream } from './reader.js'

/**
 * Writes a schedule as JSON Lines. The file appears complete or not at all: it is written to a temporary file in the
 * same folder and renamed. An existing file keeps its permissions, and a link to it remains a link.
 *
 * @throws ERR_FILE, also when the path is that of a directory or device
 */
export async function writeScheduleFile(path: string, schedule: Schedule): Promise<void> {
  await writeWholeFile(path, linesToWrite(schedule))
}

function* linesToWrite(schedule: Schedule): Generator<string> {
  for (const line of formatSchedule(schedule)) yield `${line}\n`
}

/**
 * Reads a schedule line by line.
 *
 * @throws ERR_FILE when the file cannot be read
 * @throws ERR_SCHEDULE_FORMAT when it is not a schedule
 */
export async function readScheduleFile(path: string): Promise<Schedule> {
  // Opened first, to distinguish a missing file from a malformed one.
  const file = await open(path, 'r').catch((cause) => {
    throw fileError('read', path, cause)
  })
  try {
    const input = createReadStream(path, { fd: file, autoClose: false, encoding: 'utf8' })
    return await parseScheduleStream(linesOf(input), path)
  } catch (cause) {
    throw isRankweaveError(cause) ? cause : fileError('read', path, cause)
  } finally {
    await file.close()
  }
}

async function* linesOf(input: AsyncIterable<string>): AsyncGenerator<string, void, undefined> {
  let pieces: string[] = [] // of a line that spans chunks
  for await (const chunk of input) {
    const lines = chunk.split('\n')
    pieces.push(lines[0])
    for (let i = 1; i < lines.length; i++) {
      yield pieces.join('')
      pieces = [lines[i]]
    }
  }
  yield pieces.join('')
}
