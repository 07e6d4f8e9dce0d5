import { fileURLToPath } from 'node:url'
import { RankweaveError } from '../errors.js'
import { ownModule } from '../package-paths.js'

/** Where this library's own code lies. */
const ownFolder = new URL('.', ownModule('package-paths'))
/**
 * Parts of frames that are not the user's: of Node, of built-in functions, of this library, of what calls it.
 */
const notUsers = [
  ...['(node:', 'at node:', '(<anonymous>)', '/node_modules/commander/', '/node_modules/ws/'],
  // By URL, and by path as a compiler's source map has it.
  ...[ownFolder.href, fileURLToPath(ownFolder)],
]
/** Causes of causes that are searched; an error may be its own. */
const deepestCause = 8

/**
 * Where in the user's code an error comes from: the stack of the first error in its chain of causes that is
 * not this library's, or of the error itself, without the frames of Node and of this library. Empty when
 * there are no others.
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
  // Of a module that cannot be linked or parsed, Node puts the place before the name.
  const header = lines.findIndex((line) => line.startsWith(name))
  const place = lines.slice(0, Math.max(0, header)).filter((line) => line !== '')
  const all = lines.slice(header + 1).filter(isFrame)
  const users = all.filter((line) => !notUsers.some((part) => line.includes(part)))
  return [...place, ...(users.length === 0 && always && place.length === 0 ? all : users)].join('\n')
}
