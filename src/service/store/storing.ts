import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import { RankweaveError, reasonText } from '../../errors.js'

/**
 * Does work that the system may refuse.
 *
 * @param reasonOf the text of the error: with paths for the operator who starts a service, without for its clients
 * @throws ERR_STORE for a refusal of the system; what the work throws
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

/** Turns a refusal of the system into ERR_STORE; other errors are unchanged. */
export function storeError(
  cause: unknown,
  reasonOf: (cause: unknown) => string = reasonWithoutPath,
): unknown {
  const { code, syscall } = cause as NodeJS.ErrnoException
  if (cause instanceof RankweaveError || code === undefined || syscall === undefined) return cause
  return new RankweaveError('ERR_STORE', `the data cannot be read or written: ${reasonOf(cause)}`, { cause })
}

/**
 * Returns `ENOSPC: no space left on device` for `ENOSPC: no space left on device, write '/data/...'`, and `IO error: No
 * space left on device` for `IO error: /data/...: No space left on device`.
 */
export function reasonWithoutPath(cause: unknown): string {
  return reasonText(cause)
    .split(',', 1)[0]
    .replace(/: .*\/.*: /, ': ')
}

/** Waits until names in a folder that were given so far are on the disk. */
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

/** Returns the SHA-256 of a body, read piece by piece; '' for one that is gone, or that the disk can no longer read. */
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
