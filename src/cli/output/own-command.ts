import { existsSync, realpathSync } from 'node:fs'
import { delimiter, dirname, join, sep } from 'node:path'
import { shellWord } from '../../text/printable.js'

/** The place where a user has started this command. */
interface StartPlace {
  /** The path of the module that runs, by which Node was started. */
  readonly main: string
  /** The variable PATH. */
  readonly path: string
  /** The current folder. */
  readonly folder: string
}

const here = (): StartPlace => ({
  main: process.argv[1] ?? '',
  path: process.env['PATH'] ?? '',
  folder: process.cwd(),
})

/** The modules of a checkout that are started as the command. */
const entries = [join('bin', 'rankweave.js'), join('dist', 'cli', 'main.js')]

/**
 * Returns the words that start this command again when a user types them in the same folder: `rankweave` where PATH has
 * it, `npx rankweave` in a project or checkout that has it, otherwise `node` with the path of this command.
 */
export function ownCommand({ main, path, folder }: StartPlace = here()): string {
  const bin = join('node_modules', '.bin')
  // npm adds such folders for a script and for npx; they are not in the PATH of the user's shell.
  const ofUser = path.split(delimiter).filter((one) => one !== '' && !one.endsWith(bin))
  if (ofUser.some((one) => existsSync(join(one, 'rankweave')))) return 'rankweave'
  const folders = [...foldersAbove(folder)]
  const isInstalled = folders.some((one) => existsSync(join(one, bin, 'rankweave')))
  const project = folders.find((one) => existsSync(join(one, 'package.json')))
  const isCheckout = project !== undefined && entries.some((entry) => isSameFile(main, join(project, entry)))
  if (isInstalled || isCheckout || main.includes(`${sep}_npx${sep}`)) return 'npx rankweave'
  return `node ${shellWord(main)}`
}

/** A function that makes command lines in a text start as users can type them, also within strings of JSON. */
export type OwnWords = (text: string, form?: 'json') => string

/**
 * Returns a function that replaces `rankweave` before each of the commands.
 *
 * @param own returns the words that replace it; called only for a text with a command line
 */
export function ownWords(commands: readonly string[], own: () => string): OwnWords {
  const line = new RegExp(`(?<![\\w@./-]|npx )rankweave (?=(?:${commands.join('|')})(?![\\w-]))`, 'g')
  let words: string | undefined
  return (text, form) =>
    text.replace(line, () => {
      words ??= own()
      return form === 'json' ? `${JSON.stringify(words).slice(1, -1)} ` : `${words} `
    })
}

function* foldersAbove(folder: string): Generator<string> {
  yield folder
  const above = dirname(folder)
  if (above !== folder) yield* foldersAbove(above)
}

function isSameFile(one: string, other: string): boolean {
  try {
    return realpathSync(one) === realpathSync(other)
  } catch {
    return false
  }
}
