import { randomUUID } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { type FileHandle, open, realpath, rename, rm, stat } from 'node:fs/promises'
import { isRankweaveError, RankweaveError } from '../errors.js'
import { formatSchedule } from './format.js'
import type { Schedule } from './ir.js'
import { parseScheduleStream } from './reader.js'

/** Characters to gather before they are written. */
const chunkLength = 1 << 20

/**
 * Writes a schedule as JSON Lines. The file appears whole or not at all: it is written beside itself and renamed. A file
 * that was there keeps its permissions, a link to it stays a link.
 *
 * @throws ERR_FILE, also when the path is taken by what is no file: a directory, a device
 */
export async function writeScheduleFile(path: string, schedule: Schedule): Promise<void> {
  let part: FileHandle | undefined
  let partPath = ''
  try {
    const target = await fileToReplace(path)
    partPath = `${target.path}.${randomUUID()}.part`
    part = await open(partPath, 'wx', target.mode)
    let chunk = ''
    for (const line of formatSchedule(schedule)) {
      chunk += `${line}\n`
      if (chunk.length < chunkLength) continue
      await part.writeFile(chunk)
      chunk = ''
    }
    await part.writeFile(chunk)
    await part.close()
    await rename(partPath, target.path)
  } catch (cause) {
    if (part !== undefined) {
      await part.close().catch(() => {})
      await rm(partPath, { force: true })
    }
    throw fileError('write', path, cause)
  }
}

/** Where a rename puts a file in the place of what the path leads to: renaming onto a link or a device would destroy it. */
async function fileToReplace(path: string): Promise<{ readonly path: string; readonly mode: number }> {
  const found = await stat(path).catch((cause: NodeJS.ErrnoException) => {
    if (cause.code === 'ENOENT') return null
    throw cause
  })
  if (found === null) return { path, mode: 0o666 }
  if (!found.isFile()) {
    throw new Error(`expected a file or nothing there, got a ${found.isDirectory() ? 'directory' : 'device'}`)
  }
  return { path: await realpath(path), mode: found.mode & 0o777 }
}

/**
 * Reads a schedule line by line.
 *
 * @throws ERR_FILE when the file cannot be read
 * @throws ERR_SCHEDULE_FORMAT when it is not a schedule
 */
export async function readScheduleFile(path: string): Promise<Schedule> {
  // Opened first, so that a missing file is told from a malformed one.
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
  let pieces: string[] = [] // of a line that is longer than a chunk
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

function fileError(action: string, path: string, cause: unknown): RankweaveError {
  const reason = cause instanceof Error ? cause.message : String(cause)
  return new RankweaveError('ERR_FILE', `cannot ${action} '${path}': ${reason}`, {
    details: { file: path },
    cause,
  })
}
