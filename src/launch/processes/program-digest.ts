import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { reasonText } from '../../errors.js'
import { programError } from './load-program.js'

/**
 * Returns the SHA-256 of a program's main module, as text. By it the processes of a world find out that they run the
 * same program. Covers the bytes of that one file, not what it imports.
 *
 * @throws ERR_PROGRAM when the file cannot be read
 */
export async function programDigest(program: URL): Promise<string> {
  const hash = createHash('sha256')
  if (program.protocol !== 'file:') return hash.update(program.href).digest('hex')
  // A program may load a file more than once, with different queries.
  const file = new URL(program.pathname, program)
  try {
    return hash.update(await readFile(file)).digest('hex')
  } catch (cause) {
    throw programError(program.href, `${program.href} cannot be read: ${reasonText(cause)}`, cause)
  }
}
