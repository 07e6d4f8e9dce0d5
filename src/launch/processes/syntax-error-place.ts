import { fileURLToPath } from 'node:url'
import { runInNewContext } from 'node:vm'

/** The file name of the script that throws an error again. */
const again = 'rankweave'

/**
 * Returns the place of a syntax error: the path of a file, which may be one that the program imports, and a line of it.
 * Node notes the place of an error in an ES module, and does not write it into the stack. A script of `node:vm` that
 * throws the error does: from then on the stack begins with the place.
 *
 * @returns `/path/file.mjs:4`; undefined for other errors, and if the place is not known
 */
export function syntaxErrorPlace(error: unknown): string | undefined {
  if (!(error instanceof Error) || error.name !== 'SyntaxError') return undefined
  const { stack } = error
  const place = placeIn(error) ?? placeIn(thrownByScript(error))
  // An error that the program threw has no such place, and got that of the script.
  if (place === undefined && stack !== undefined) error.stack = stack
  return place
}

function placeIn({ stack = '' }: Error): string | undefined {
  const [, file, line] = /^(\S.*):(\d+)\n/.exec(stack) ?? []
  if (file === undefined || file === again) return undefined
  return `${file.startsWith('file:') ? fileURLToPath(file) : file}:${line}`
}

function thrownByScript(error: Error): Error {
  try {
    runInNewContext('throw error', { error }, { filename: again })
  } catch {
    // The script throws the error that was passed.
  }
  return error
}
