import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'
import { RankweaveError } from '../../errors.js'
import { isPackaged } from '../../package-paths.js'

/** A file of this package that threads or processes start from. */
interface EntryFile {
  /** The file in this copy of the package. */
  readonly own: URL
  /** The path below `dist`. */
  readonly name: string
  /** The call that takes the file's URL, for the message. */
  readonly option: string
}

/**
 * Returns the entry of workers or processes: the given one, else this package's. If an application bundles this code,
 * it is that of the package that the program, or the folder this process runs in, finds.
 *
 * @throws ERR_WORKER when there is none
 */
export function entryFile(program: URL, given: URL | undefined, { own, name, option }: EntryFile): URL {
  if (given === undefined && isPackaged()) return own
  const candidates =
    given === undefined ? [program, pathToFileURL('./')].flatMap((from) => installed(from, name)) : [given]
  const found = candidates.find((file) => existsSync(file))
  if (found !== undefined) return found
  const [fabric] = option.split('(')
  const missing =
    given === undefined
      ? `the file that ${name === 'worker.js' ? 'workers' : 'processes'} start from is not found, since this library is bundled into the application`
      : `there is no file '${given.href}'`
  throw new RankweaveError(
    'ERR_WORKER',
    `${fabric}: ${missing}: bundle 'rankweave/dist/${name}' as its own entry, and pass its URL: ${option}`,
  )
}

/** Returns the file of the package that a module finds under the name of this one. */
function installed(from: URL, name: string): URL[] {
  try {
    const manifest = createRequire(from).resolve('rankweave/package.json')
    return [new URL(`./dist/${name}`, pathToFileURL(manifest))]
  } catch {
    return []
  }
}
