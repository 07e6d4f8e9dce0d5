import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs'
import { fileError } from './whole-file.js'

/** The bytes of one read; a call of the system reads less than 2 GiB. */
const pieceBytes = 2 ** 30

/**
 * Reads the bytes of a file. It refuses a pipe without a writer, or a device without an end, before it reads.
 *
 * @param mostBytes the most bytes that it may have
 * @param hint the end of the message about a longer one
 * @throws ERR_FILE naming the path
 */
export function readRegularFile(path: string, mostBytes: number, hint = ''): Buffer {
  let file: number | undefined
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
    const status = fstatSync(file)
    if (!status.isFile())
      throw new Error(`expected a file, got a ${status.isDirectory() ? 'directory' : 'pipe or device'}`)
    if (status.size > mostBytes)
      throw new Error(`expected at most ${mostBytes} bytes, got ${status.size}${hint}`)
    const bytes = Buffer.alloc(status.size)
    let count = 0
    for (let read = -1; read !== 0 && count < bytes.length; count += read)
      read = readSync(file, bytes, count, Math.min(bytes.length - count, pieceBytes), count)
    return bytes.subarray(0, count)
  } catch (cause) {
    throw fileError('read', path, cause)
  } finally {
    if (file !== undefined) closeSync(file)
  }
}

/**
 * Reads a file as {@link readRegularFile} does; undefined if there is nothing of that name. A file that exists but
 * cannot be read, such as a loop of links, is not absent.
 *
 * @throws ERR_FILE naming the path
 */
export function readRegularFileIfThere(path: string, mostBytes: number): Buffer | undefined {
  try {
    return readRegularFile(path, mostBytes)
  } catch (error) {
    if (((error as Error).cause as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}
