import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'

/**
 * A directory and those above it. Not `mkdir` with `recursive`: that of Node 20 tries for ever where a file
 * system answers ENOENT below a directory that is there, as /proc does.
 *
 * @throws the error of the operating system
 */
export function makeDirectory(path: string): void {
  const above = dirname(path)
  try {
    make(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || above === path) throw error
    makeDirectory(above)
    make(path)
  }
}

function make(path: string): void {
  try {
    mkdirSync(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
}
