import { RankweaveError, wrongValue } from '../errors.js'

/** Bytes that are read once, front to back: a file of any size, or bytes in memory. */
export interface ByteSource {
  /** The number of bytes; null if it is unknown before the end (a pipe). */
  readonly sizeBytes: number | null
  /**
   * Reads available bytes, at least one, into `into` and returns their number; 0 at the end.
   * @throws ERR_FILE
   */
  read(into: Uint8Array): number
  /** Releases the source. The caller calls it once, whether reading succeeded or failed. */
  close(): void
}

/**
 * Makes a source of bytes, or of the UTF-8 of a text. Ownership: the bytes are not copied.
 * @throws ERR_ARGUMENT for anything else
 */
export function sourceOf(data: Uint8Array | string): ByteSource {
  if (typeof data !== 'string' && !(data instanceof Uint8Array))
    throw wrongValue('ERR_ARGUMENT', 'expected a text, bytes or a source of them', data)
  const bytes = typeof data === 'string' ? new TextEncoder().encode(data) : data
  let at = 0
  return {
    sizeBytes: bytes.length,
    read: (into) => {
      const piece = bytes.subarray(at, at + into.length)
      into.set(piece)
      at += piece.length
      return piece.length
    },
    close: () => {},
  }
}

/** Makes a source of text and bytes; returns a source unchanged. @throws ERR_ARGUMENT for anything else */
export function asSource(source: string | Uint8Array | ByteSource): ByteSource {
  if (typeof Object(source).read === 'function') return source as ByteSource
  return sourceOf(source as string | Uint8Array)
}

/**
 * Reads a whole source as text, which must be UTF-8 and fit a string. It reads to the end, or to the bound.
 *
 * @param mostBytes the bound of this file, if that is lower
 * @throws ERR_FILE
 */
export function readText(source: ByteSource, file: string, mostBytes = longestText): string {
  const most = Math.min(mostBytes, longestText)
  const decoder = new TextDecoder('utf-8', { fatal: true })
  const buffer = new Uint8Array(1 << 20)
  const pieces: string[] = []
  let total = 0
  try {
    for (let count = source.read(buffer); count > 0; count = source.read(buffer)) {
      if (total === 0 && isGzip(buffer.subarray(0, count))) throw compressed(file)
      total += count
      if (total > most) throw new RangeError(`more than ${most} bytes`)
      pieces.push(decoder.decode(buffer.subarray(0, count), { stream: true }))
    }
    pieces.push(decoder.decode())
  } catch (cause) {
    if (cause instanceof RankweaveError) throw cause
    const got = cause instanceof RangeError ? cause.message : `${total} bytes that are not`
    const message = `'${file}': expected UTF-8 text of at most ${most} bytes, got ${got}`
    throw new RankweaveError('ERR_FILE', message, { details: { file }, cause })
  }
  return pieces.join('')
}

/** Whether the first bytes of a file are those of a gzip file. */
export function isGzip(bytes: Uint8Array): boolean {
  return bytes.length > 1 && bytes[0] === 0x1f && bytes[1] === 0x8b
}

function compressed(file: string): RankweaveError {
  const message = `'${file}': expected UTF-8 text, got gzip-compressed data; run gunzip first`
  return new RankweaveError('ERR_FILE', message, { details: { file } })
}

/** The limit is below the longest string of any JavaScript engine. */
export const longestText = 2 ** 29 - 2 ** 10
