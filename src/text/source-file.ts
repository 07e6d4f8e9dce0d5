import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { requireOptions, requireText } from '../base/known-options.js'
import { RankweaveError, shortened } from '../errors.js'
import { type ByteSource, isGzip } from './byte-source.js'
import { gunzipSource } from './gunzip.js'
import { printable } from './printable.js'

/** Opens the source that a path names. The default opens a file; tests and browsers pass their own. */
export type OpenSource = (path: string) => ByteSource

/** Reports how much of a source has been read; `sizeBytes` is null if the size is unknown. */
export type ReadProgress = (readBytes: number, sizeBytes: number | null) => void

/** Opens a file, a pipe or a device for reading. @throws ERR_FILE */
export const openSourceFile: OpenSource = (path) => fileSource(path, () => openSync(path, 'r'))

/** Makes a source of the bytes of a file descriptor. @param path shown in messages @throws ERR_FILE */
export function fileSource(path: string, open: () => number): ByteSource {
  const attempt = <T>(call: () => T): T => readingFile(path, call)
  const file = attempt(open)
  const stat = attempt(() => fstatSync(file))
  return {
    sizeBytes: stat.isFile() ? stat.size : null,
    read: (into) => attempt(() => readWaiting(file, into)),
    close: () => closeSync(file),
  }
}

/** Returns the result of a call to the file system. @throws ERR_FILE naming the path, when the call throws */
export function readingFile<T>(path: string, call: () => T): T {
  requireText('path', path)
  if (path === '') throw new RankweaveError('ERR_FILE', "cannot read '': expected the name of a file")
  try {
    return call()
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    const message = printable(`cannot read '${shortened(path)}': ${shortened(reason)}`)
    throw new RankweaveError('ERR_FILE', message, { details: { file: shortened(path) }, cause })
  }
}

/**
 * Reads, and waits if there is nothing to read. Another process may have made a pipe or terminal non-blocking, and
 * reads then fail instead.
 */
function readWaiting(file: number, into: Uint8Array): number {
  for (;;) {
    try {
      return readSync(file, into)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error
      Atomics.wait(neverNotified, 0, 0, waitMs)
    }
  }
}

const neverNotified = new Int32Array(new SharedArrayBuffer(4))
const waitMs = 5

/**
 * Opens a source, runs `read` on it, and closes it in any case. A gzip file is expanded on the way; progress
 * counts its own bytes.
 */
export function withSource<T>(
  path: string,
  read: (source: ByteSource) => T,
  options: { readonly open?: OpenSource; readonly onProgress?: ReadProgress } = {},
): T {
  requireOptions('reading a file', options)
  const { open = openSourceFile, onProgress } = options
  const source = open(path)
  try {
    return read(expanded(onProgress === undefined ? source : followed(source, onProgress), path).source)
  } finally {
    source.close()
  }
}

/** Returns the source, or its expansion if it begins like a gzip file. */
export function expanded(
  source: ByteSource,
  path: string,
): { readonly source: ByteSource; readonly isCompressed: boolean } {
  const first = new Uint8Array(1 << 12)
  let count = 0
  for (let read = -1; count < 2 && read !== 0; count += read) read = source.read(first.subarray(count))
  const whole = withFirst(first.subarray(0, count), source)
  const isCompressed = isGzip(first)
  return { source: isCompressed ? gunzipSource(whole, path) : whole, isCompressed }
}

/** Returns a source whose first bytes have been read. */
function withFirst(first: Uint8Array, source: ByteSource): ByteSource {
  let at = 0
  return {
    sizeBytes: source.sizeBytes,
    read: (into) => {
      if (at === first.length) return source.read(into)
      const piece = first.subarray(at, at + into.length)
      into.set(piece)
      at += piece.length
      return piece.length
    },
    close: () => source.close(),
  }
}

function followed(source: ByteSource, onProgress: ReadProgress): ByteSource {
  let total = 0
  return {
    sizeBytes: source.sizeBytes,
    read: (into) => {
      const count = source.read(into)
      total += count
      onProgress(total, source.sizeBytes)
      return count
    },
    close: () => source.close(),
  }
}
