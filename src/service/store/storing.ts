import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import { RankweaveError, reasonText } from '../../errors.js'

/**
 * Does what the system may refuse.
 *
 * @param reasonOf what the error says: paths for the operator who starts a service, none for its clients
 * @throws ERR_STORE for what the system refuses; what the work throws
 */
export async function storing<T>(
  work: () => Promise<T>,
  reasonOf: (cause: unknown) => string = reasonWithoutPath,
): Promise<T> {
  try {
    return await work()
  } catch (cause) {
    throw storeError(cause, reasonOf)
  }
}

/** What the system refused, as ERR_STORE; anything else unchanged. */
export function storeError(
  cause: unknown,
  reasonOf: (cause: unknown) => string = reasonWithoutPath,
): unknown {
  const { code, syscall } = cause as NodeJS.ErrnoException
  if (cause instanceof RankweaveError || code === undefined || syscall === undefined) return cause
  return new RankweaveError('ERR_STORE', `the data cannot be read or written: ${reasonOf(cause)}`, { cause })
}

/**
 * `ENOSPC: no space left on device` of `ENOSPC: no space left on device, write '/data/...'`, and
 * `IO error: No space left on device` of `IO error: /data/...: No space left on device`.
 */
export function reasonWithoutPath(cause: unknown): string {
  return reasonText(cause)
    .split(',', 1)[0]
    .replace(/: .*\/.*: /, ': ')
}

/** Names in a folder that were given so far are on the disk when this resolves. */
export async function syncFolder(path: string): Promise<void> {
  // Windows cannot open folders; its renames are journalled.
  if (process.platform === 'win32') return
  const folder = await open(path, 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}

/** SHA-256 of a body, piece by piece; of one that is gone, or that the disk can no longer read, ''. */
export async function digestOrNothing(path: string): Promise<string> {
  const hash = createHash('sha256')
  try {
    for await (const piece of createReadStream(path)) hash.update(piece as Buffer)
    return hash.digest('hex')
  } catch (error) {
    if (['ENOENT', 'EISDIR', 'EIO'].includes((error as NodeJS.ErrnoException).code ?? '')) return ''
    throw error
  }
}
