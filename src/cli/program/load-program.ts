import { accessSync } from 'node:fs'
import { extname, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { causeText, isRankweaveError, reasonText } from '../../errors.js'
import { loadExports, programError } from '../../launch/processes/load-program.js'
import type { UserProgram } from '../../world/user-program.js'
import { guardUserCode } from './guard-user-code.js'

/** A program that `rankweave run` runs. */
export type Program = UserProgram<unknown, readonly string[]>

const extensions = ['.ts', '.mts', '.js', '.mjs', '.cjs']

/** Returns the URL of a program's file. @throws ERR_PROGRAM when the file is missing or of another kind */
export function checkProgramFile(file: string): string {
  const path = resolve(file)
  if (!extensions.includes(extname(path)))
    throw programError(file, `expected a ${extensions.join(', ')} file, got '${file}'`)
  try {
    accessSync(path)
  } catch (cause) {
    const isAbsent = (cause as NodeJS.ErrnoException).code === 'ENOENT'
    const message = isAbsent ? `there is no file '${file}'` : `'${file}' cannot be read: ${reasonText(cause)}`
    // The cause is left out, because its frames are this library's: the user's program has not run.
    throw programError(file, message)
  }
  return pathToFileURL(path).href
}

/**
 * Loads a program's exports `default` and `hosted`. TypeScript is compiled while loading. `import 'rankweave'` resolves
 * to the library of this command, so that a program runs from any folder and never loads a second copy.
 *
 * @throws ERR_PROGRAM when the file is missing, of another kind, fails to load, or exports no default function
 */
export async function loadProgram(file: string, hosted: boolean): Promise<Program> {
  const url = checkProgramFile(file)
  try {
    return await guardUserCode((ending) =>
      Promise.race([loadExports<unknown, readonly string[]>(url, { hosted, name: file }), aborted(ending)]),
    )
  } catch (cause) {
    if (isRankweaveError(cause, 'ERR_PROGRAM')) throw cause
    throw programError(file, `${file} failed to load: ${causeText(cause)}`, cause)
  }
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason))
  })
}
