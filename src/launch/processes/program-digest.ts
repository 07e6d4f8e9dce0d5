import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { reasonText } from '../../errors.js'
import { programError } from './load-program.js'

/**
 * SHA-256 of a program's main module, as text: by it the processes of a world find out that they run the same
 * program. Covers the bytes of that one file, not what it imports.
 *
 * @throws ERR_PROGRAM when the file cannot be read
 */
export async function programDigest(program: URL): Promise<string> {
  const hash = createHash('sha256')
  if (program.protocol !== 'file:') return hash.update(program.href).digest('hex')
  // The same file may be loaded more than once, told apart by a query.
  const file = new URL(program.pathname, program)
  try {
    return hash.update(await readFile(file)).digest('hex')
  } catch (cause) {
    throw programError(program.href, `${program.href} cannot be read: ${reasonText(cause)}`, cause)
  }
}
