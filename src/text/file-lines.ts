import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { RankweaveError, wrongValue } from '../errors.js'
import type { ByteSource } from './byte-source.js'
import { readingFile } from './source-file.js'

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
