import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'

/**
 * Writes a file that is complete or not there, also after a loss of power: its bytes reach the disk before
 * its name does, and the name before this resolves.
 *
 * @param temporary in the same file system; nothing else writes it
 */
export async function writeDurably(path: string, text: string, temporary: string): Promise<void> {
  const file = await open(temporary, 'wx', 0o600)
  try {
    await file.writeFile(text)
    await file.sync()
  } finally {
    await file.close()
  }
  await moveDurably(temporary, path)
}

/** Gives a file, whose bytes are on the disk, its name. */
export async function moveDurably(from: string, to: string): Promise<void> {
  try {
    await rename(from, to)
  } catch (error) {
    await rm(from, { force: true })
    throw error
  }
  await syncFolder(dirname(to))
}

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

/** SHA-256 of a file as hexadecimal digits, piece by piece. */
export async function digestOfFile(path: string): Promise<string> {
  const hash = createHash('sha256')
  for await (const piece of createReadStream(path)) hash.update(piece as Buffer)
  return hash.digest('hex')
}
