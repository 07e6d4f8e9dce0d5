import { readFileSync } from 'node:fs'

/**
 * Files of this package by URL. The one module that may say where it lies: bundled or not, compiled or as
 * source, it is directly in the folder that holds what it names, and the package's manifest is beside that
 * folder.
 */
// Undefined where an application was bundled as CommonJS; then nothing is found here.
const here = (import.meta.url as string | undefined) ?? 'file:///bundled/as/commonjs.js'
const extension = here.endsWith('.ts') ? 'ts' : 'js'

/** Whether this is the source, which Node loads through a compiler's hook only. */
export const isSource = extension === 'ts'

/** @param name path below `src` without extension, such as `cli/program/spmm-program` */
export function ownModule(name: string): URL {
  return new URL(`./${name}.${extension}`, here)
}

/**
 * @param path below `src`, of a file that is copied there unchanged, such as `export/c/rankweave_program.h`
 */
export function ownFile(path: string): URL {
  return new URL(`./${path}`, here)
}

/** @param name of a file of the page, as `npm run build` makes it; from source, what was built last */
export function pageFile(name: string): URL {
  return new URL(isSource ? `../dist/web/${name}` : `./web/${name}`, here)
}

const manifestFile = new URL('../package.json', here)

/** The entry of worker threads; as source, it takes another entry from `workerData.entry`. */
export const workerFile = new URL(isSource ? './from-source.mjs' : './worker.js', here)

/** The entry of other processes of the operating system. */
export const childFile = new URL(isSource ? './from-source.mjs' : './child.js', here)

/** False where an application bundles this code: then none of these files is where it should be. */
export function isPackaged(): boolean {
  packaged ??= manifest().name === 'rankweave'
  return packaged
}

let packaged: boolean | undefined

/**
 * Version of this package; where an application bundles this code, a text that is the same for all of them.
 */
export function ownVersion(): string {
  version ??= isPackaged() ? (manifest().version ?? 'unknown') : 'bundled'
  return version
}

let version: string | undefined

/** Files of `entry/` that programs import, without extension. */
export function ownEntries(): string[] {
  return Object.keys(manifest().exports ?? {})
    .filter((path) => !path.endsWith('.json'))
    .map((path) => (path === '.' ? 'index' : path.slice(2)))
}

interface Manifest {
  readonly name?: string
  readonly version?: string
  readonly exports?: object
}

function manifest(): Manifest {
  try {
    return JSON.parse(readFileSync(manifestFile, 'utf8')) as Manifest
  } catch {
    return {}
  }
}
