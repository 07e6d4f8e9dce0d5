import { fileURLToPath } from 'node:url'
import { RankweaveError } from '../errors.js'
import { ownModule } from '../package-paths.js'

/** The folder of this library's own code. */
const ownFolder = new URL('.', ownModule('package-paths'))
/** The parts of frames that are not the user's: of Node, of built-in functions, of this library, of its callers. */
const notUsers = [
  ...['(node:', 'at node:', '(<anonymous>)', '/node_modules/commander/', '/node_modules/ws/'],
  // Frames have a URL, or a path as in a compiler's source map.
  ...[ownFolder.href, fileURLToPath(ownFolder)],
]
/** The most causes of causes that are searched; an error may be its own. */
const deepestCause = 8

/**
 * Returns the place in the user's code from which an error comes. It is the stack of the first error in its chain of
 * causes that is not this library's, or of the error itself. Frames of Node and of this library are left out. Empty
 * when there are no others.
 */
export function userFrames(error: unknown): string {
  const origin = foreignCause(error)
  if (origin instanceof Error) return frames(origin, true)
  return error instanceof Error ? frames(error, false) : ''
}

function foreignCause(error: unknown): unknown {
  let cause = error
  for (let depth = 0; cause instanceof RankweaveError && depth < deepestCause; depth++) cause = cause.cause
  return cause instanceof RankweaveError ? undefined : cause
}

/** @param always all frames rather than none */
function frames({ stack = '', name }: Error, always: boolean): string {
  const lines = stack.split('\n')
  const isFrame = (line: string) => /^\s+at /.test(line)
  // For a module that cannot be linked or parsed, Node puts the place before the name.
  const header = lines.findIndex((line) => line.startsWith(name))
  const place = lines.slice(0, Math.max(0, header)).filter((line) => line !== '')
  const all = lines.slice(header + 1).filter(isFrame)
  const users = all.filter((line) => !notUsers.some((part) => line.includes(part)))
  return [...place, ...(users.length === 0 && always && place.length === 0 ? all : users)].join('\n')
}
