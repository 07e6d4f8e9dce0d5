import { readFileSync } from 'node:fs'
import { RankweaveError } from '../errors.js'

/** Gives the bytes of a file. The default reads the disk; tests and browsers give their own. */
export type ReadSource = (path: string) => Uint8Array

/** Reads a whole file. @throws ERR_FILE */
export const readSourceFile: ReadSource = (path) => {
  try {
    return readFileSync(path)
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new RankweaveError('ERR_FILE', `cannot read '${path}': ${reason}`, {
      details: { file: path },
      cause,
    })
  }
}

/** The text of a file, which must be UTF-8 and fit a string. @throws ERR_FILE */
export function decodeSource(bytes: Uint8Array, path: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch (cause) {
    throw new RankweaveError(
      'ERR_FILE',
      `'${path}': expected UTF-8 text, got ${bytes.length} bytes that are not`,
      {
        details: { file: path },
        cause,
      },
    )
  }
}
