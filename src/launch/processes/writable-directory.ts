import { accessSync, constants, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileError, makeDirectory } from '../../text/whole-file.js'

/**
 * Makes the directory before the world starts.
 *
 * @returns its absolute path: the program may change the working directory
 * @throws ERR_FILE if files cannot be written
 */
export function makeWritableDirectory(directory: string): string {
  try {
    makeDirectory(directory)
    if (!statSync(directory).isDirectory()) throw new Error('expected a directory, got a file or device')
    accessSync(directory, constants.W_OK)
    // The check also fails for a path that exists and is not a directory.
    accessSync(join(directory, '.'), constants.X_OK)
  } catch (cause) {
    throw fileError('write', directory, cause)
  }
  return resolve(directory)
}
