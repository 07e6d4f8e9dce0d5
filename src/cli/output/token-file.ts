import { closeSync, fchmodSync, openSync, writeFileSync } from 'node:fs'
import { RankweaveError, reasonText } from '../../errors.js'

/** Readable for this user only, from the first byte; also a file that was there. @throws ERR_FILE */
export function writeToken(file: string, token: string): void {
  try {
    const opened = openSync(file, 'w', 0o600)
    try {
      // The mode above is that of a new file.
      fchmodSync(opened, 0o600)
      writeFileSync(opened, `${token}\n`)
    } finally {
      closeSync(opened)
    }
  } catch (cause) {
    throw new RankweaveError('ERR_FILE', `${file} cannot be written: ${reasonText(cause)}`, { cause })
  }
}
