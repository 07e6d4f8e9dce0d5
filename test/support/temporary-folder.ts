import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll } from 'vitest'

/**
 * Makes a folder before the tests of the enclosing `describe` or file, and removes it after them. Returns
 * what gives its path.
 */
export function temporaryFolder(name: string): () => string {
  let folder: string | undefined
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), `rankweave-${name}-`))
  })
  afterAll(() => {
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true })
  })
  return () => {
    if (folder === undefined) throw new Error('the folder is made before tests')
    return folder
  }
}

/** Makes a folder at once, and removes it after the tests of the file. */
export function ownFolder(name: string): string {
  const folder = mkdtempSync(join(tmpdir(), `rankweave-${name}-`))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}
