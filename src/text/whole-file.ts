import { accessSync, closeSync, fstatSync, mkdirSync, openSync, readSync, rmSync, statSync } from 'node:fs'
import { access, constants, type FileHandle, open, realpath, rename, rm, stat } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { RankweaveError } from '../errors.js'
import { printable } from './printable.js'

/** The characters that are collected before they are written. */
const chunkLength = 1 << 20

/**
 * Writes a file in pieces of text, or its bytes. It appears complete or not at all: it is written to a temporary file
 * in the same folder and renamed. An existing file keeps its permissions, and a link to it remains a link. A name that
 * ends in `.gz` makes text a gzip file.
 *
 * @throws ERR_FILE, also when the path is that of a directory or device; the error of producing the pieces
 */
export async function writeWholeFile(path: string, pieces: Iterable<string> | Uint8Array): Promise<void> {
  let part: FileHandle | undefined
  let partPath = ''
  try {
    const target = await fileToReplace(path)
    partPath = `${target.path}.${crypto.randomUUID()}.part`
    unfinished.add(partPath)
    part = await open(partPath, 'wx', target.mode)
    const file = part
    const write = async (chunks: Iterable<string | Uint8Array> | AsyncIterable<string | Uint8Array>) => {
      for await (const chunk of chunks) await file.writeFile(chunk)
    }
    if (pieces instanceof Uint8Array) await write([pieces])
    else if (path.endsWith('.gz')) await pipeline(Readable.from(chunksOf(pieces)), createGzip(), write)
    else await write(chunksOf(pieces))
    await part.close()
    await rename(partPath, target.path)
  } catch (cause) {
    if (part !== undefined) {
      await part.close().catch(() => {})
      await rm(partPath, { force: true })
    }
    throw cause instanceof RankweaveError ? cause : fileError('write', path, cause)
  } finally {
    unfinished.delete(partPath)
  }
}

/** The temporary files that exist now. */
const unfinished = new Set<string>()

/** Removes the temporary files of writes in progress, for a process that a signal is about to end. */
export function removeUnfinishedFiles(): void {
  for (const path of unfinished) rmSync(path, { force: true })
}

/** Checks before long work whether its file can be written. @throws ERR_FILE */
export async function requireWritable(path: string): Promise<void> {
  try {
    await access(dirname((await fileToReplace(path)).path), constants.W_OK)
  } catch (cause) {
    throw fileError('write', path, cause)
  }
}

/** Yields the pieces, many in one. */
export function* chunksOf(pieces: Iterable<string>): Generator<string> {
  let chunk = ''
  for (const piece of pieces) {
    chunk += piece
    if (chunk.length < chunkLength) continue
    yield chunk
    chunk = ''
  }
  if (chunk !== '') yield chunk
}

/** Returns the path of the file itself, links followed: renaming onto a link or a device would destroy it. */
async function fileToReplace(path: string): Promise<{ readonly path: string; readonly mode: number }> {
  if (path === '') throw new Error('expected the name of a file')
  const found = await stat(path).catch((cause: NodeJS.ErrnoException) => {
    if (cause.code === 'ENOENT') return null
    throw cause
  })
  if (found === null) return { path, mode: 0o666 }
  if (!found.isFile())
    throw new Error(`expected a file or nothing there, got a ${found.isDirectory() ? 'directory' : 'device'}`)
  return { path: await realpath(path), mode: found.mode & 0o777 }
}

export function fileError(action: string, path: string, cause: unknown): RankweaveError {
  const reason = cause instanceof Error ? cause.message : String(cause)
  const message = printable(`cannot ${action} '${path}': ${reason}`)
  return new RankweaveError('ERR_FILE', message, { details: { file: path }, cause })
}

/**
 * Makes a directory and those above it. It does not use `mkdir` with `recursive`: that of Node 20 tries without end if
 * a file system answers ENOENT below an existing directory, as /proc does.
 *
 * @throws the error of the operating system
 */
export function makeDirectory(path: string): void {
  const above = dirname(path)
  try {
    make(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || above === path) throw error
    makeDirectory(above)
    make(path)
  }
}

function make(path: string): void {
  try {
    mkdirSync(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
}

/**
 * Makes a directory for files that are written later, so that long work does not fail at its end.
 *
 * @returns its absolute path: the program may change the working directory
 * @throws ERR_FILE if files cannot be written
 */
export function makeWritableDirectory(directory: string): string {
  try {
    makeDirectory(directory)
    if (!statSync(directory).isDirectory()) throw new Error('expected a directory, got a file or device')
    accessSync(directory, constants.W_OK)
    // The check also fails for a path that exists and is not a directory.
    accessSync(join(directory, '.'), constants.X_OK)
  } catch (cause) {
    throw fileError('write', directory, cause)
  }
  return resolve(directory)
}

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
