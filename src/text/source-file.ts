import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import {
  Z_BUF_ERROR,
  Z_NO_FLUSH,
  Z_OK,
  Z_STREAM_END,
  ZStream,
  zlibInflate,
  zlibInflateInit2,
  zlibInflateReset,
} from 'pako'
import { requireOptions, requireText } from '../base/known-options.js'
import { RankweaveError, shortened, wrongValue } from '../errors.js'
import { type ByteSource, isGzip } from './byte-source.js'
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
  read: (source: ByteSource, isCompressed: boolean) => T,
  options: { readonly open?: OpenSource; readonly onProgress?: ReadProgress } = {},
): T {
  requireOptions('reading a file', options)
  const { open = openSourceFile, onProgress } = options
  const source = open(path)
  try {
    const whole = expanded(onProgress === undefined ? source : followed(source, onProgress), path)
    return read(whole.source, whole.isCompressed)
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

/**
 * A file expands to at most this many bytes and this many times its own length: a small file may expand a
 * thousandfold.
 */
export const expansionLimit = { bytes: 2 ** 26, times: 256 } as const

/**
 * The most members of a file; further ones must have so many bytes each on average. An empty member has 20 bytes, and
 * takes 4 us.
 */
const memberLimit = { members: 4096, bytesOfEach: 256 } as const

const inputBytes = 1 << 16
const outputBytes = 1 << 16
/**
 * The largest window, 2^15 bytes, plus 16 for gzip headers and trailers, which zlib checks (zlib's manual,
 * `inflateInit2`).
 */
const windowBits = 15 + 16

/**
 * Returns a source that expands a gzip source: one member after another, each with its checksum and length verified. It
 * is synchronous like all readers, unlike node:zlib, and takes constant memory.
 *
 * @param file name in messages
 * @throws ERR_FILE while reading: truncated or corrupt data, data that expands beyond {@link expansionLimit}, or more
 *   members than {@link memberLimit}
 */
export function gunzipSource(source: ByteSource, file: string): ByteSource {
  const gunzip = new Gunzip(source, file)
  return { sizeBytes: null, read: (into) => gunzip.read(into), close: () => source.close() }
}

class Gunzip {
  readonly #source: ByteSource
  readonly #file: string
  readonly #stream = new ZStream()
  readonly #output = new Uint8Array(outputBytes)
  /** The number of output bytes that have been taken. */
  #taken = 0
  #expanded = 0
  #members = 1
  /** The number of bytes of the source before the input buffer. */
  #base = 0
  #sourceEnded = false
  /** Whether the last member has ended. */
  #ended = false

  constructor(source: ByteSource, file: string) {
    this.#source = source
    this.#file = file
    this.#stream.input = new Uint8Array(inputBytes)
    this.#stream.output = this.#output
    zlibInflateInit2(this.#stream, windowBits)
  }

  read(into: Uint8Array): number {
    const stream = this.#stream
    if (this.#taken === stream.next_out && !this.#ended) this.#expand()
    const count = Math.min(into.length, stream.next_out - this.#taken)
    into.set(this.#output.subarray(this.#taken, this.#taken + count))
    this.#taken += count
    return count
  }

  /** Replaces the output once it has been taken: by at least one byte, or by none at the end of the last member. */
  #expand(): void {
    const stream = this.#stream
    stream.next_out = this.#taken = 0
    stream.avail_out = outputBytes
    while (stream.next_out === 0 && !this.#ended) {
      this.#fill()
      const status = zlibInflate(stream, Z_NO_FLUSH)
      if (status === Z_STREAM_END) this.#beginMember()
      else if (status !== Z_OK) this.#refuseData(status)
    }
    this.#expanded += stream.next_out
    if (this.#expanded > expansionLimit.bytes + expansionLimit.times * this.#used)
      this.#refuse(`expands to more than ${expansionLimit.times} times its size: gunzip it, if you trust it`)
  }

  /** Skips zeros that pad a file to whole blocks, as on tapes, to the next member or the end. */
  #beginMember(): void {
    const stream = this.#stream
    while (this.#fill()) {
      if (stream.input[stream.next_in] !== 0) {
        const { members, bytesOfEach } = memberLimit
        if (++this.#members > members + this.#used / bytesOfEach)
          this.#refuse(`has more than ${members} gzip members of less than ${bytesOfEach} bytes each`)
        zlibInflateReset(stream)
        return
      }
      stream.next_in++
      stream.avail_in--
    }
    this.#ended = true
  }

  /** Reads more input if none is left; false at the end of the source. */
  #fill(): boolean {
    const stream = this.#stream
    if (stream.avail_in === 0 && !this.#sourceEnded) {
      this.#base += stream.next_in
      stream.next_in = 0
      stream.avail_in = this.#source.read(stream.input)
      this.#sourceEnded = stream.avail_in === 0
    }
    return stream.avail_in > 0
  }

  #refuseData(status: number): never {
    // The output always has room when data is expanded, so this status means that input is missing.
    return status === Z_BUF_ERROR
      ? this.#refuse(`gzip data ends too early, after ${this.#used} bytes: the file is truncated`)
      : this.#refuse(`corrupt gzip data before byte ${this.#used}: ${this.#stream.msg}`)
  }

  /** The number of bytes of the source that have been used. */
  get #used(): number {
    return this.#base + this.#stream.next_in
  }

  #refuse(reason: string): never {
    const message = `cannot read '${this.#file}': ${reason}`
    throw new RankweaveError('ERR_FILE', message, { details: { file: this.#file } })
  }
}

export interface FilePart {
  /** The first byte of the part, which has the lines that begin from here on. */
  readonly fromByte: number
  /** The end of the part: lines that begin at this byte or after it belong to later parts. */
  readonly toByte: number
  /** The bytes of the whole file. Other processes read other parts, so a file of another size is not theirs. */
  readonly fileBytes: number
}

/**
 * Opens the lines of a file that begin within a part of it. Parts that cover the bytes of a file cover its lines, each
 * once. Memory does not depend on the size of the file.
 *
 * @throws ERR_FILE also for a file of another size; reading throws it for one that is truncated meanwhile
 */
export function openFileLines(path: string, { fromByte, toByte, fileBytes }: FilePart): ByteSource {
  const attempt = <T>(call: () => T): T => readingFile(path, call)
  const file = attempt(() => openSync(path, 'r'))
  const close = () => closeSync(file)
  try {
    const { size } = attempt(() => fstatSync(file))
    if (size !== fileBytes) {
      const expected = `'${path}': expected ${fileBytes} bytes, as the first process has found`
      throw wrongValue('ERR_FILE', expected, size, { file: path })
    }
    let at = attempt(() => lineStart(file, fromByte, fileBytes))
    const end = attempt(() => lineStart(file, toByte, fileBytes))
    return {
      sizeBytes: end - at,
      read: (into) => {
        const count = attempt(() => readSync(file, into, 0, Math.min(into.length, end - at), at))
        if (count === 0 && at < end && into.length > 0) {
          const message = `'${path}' ends at byte ${at}, of ${fileBytes} when it was opened: it was truncated while it was read`
          throw new RankweaveError('ERR_FILE', message, { details: { file: path } })
        }
        at += count
        return count
      },
      close,
    }
  } catch (error) {
    close()
    throw error
  }
}

/**
 * Returns the byte at which the first line begins that begins at a byte or after it; the size of the file if none does.
 */
function lineStart(file: number, byte: number, fileBytes: number): number {
  if (byte === 0) return 0
  const buffer = Buffer.alloc(1 << 12)
  for (let at = byte - 1; at < fileBytes; ) {
    const count = readSync(file, buffer, 0, buffer.length, at)
    const newline = buffer.subarray(0, count).indexOf(10)
    if (newline >= 0) return at + newline + 1
    if (count === 0) break
    at += count
  }
  return fileBytes
}
