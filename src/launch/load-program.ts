import { createRequire, register } from 'node:module'
import { extname } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { Main } from '../comm/world/world.js'
import { isRankweaveError, RankweaveError } from '../errors.js'
import { ownModule } from '../package-paths.js'

/**
 * Loads a program's default export. TypeScript is compiled on the way; `import 'rankweave'` means this very copy of
 * the library, so that a program works from any folder and never meets a second one.
 *
 * @param name how the caller named the file, for messages
 * @throws ERR_PROGRAM when it fails to load, or exports no default function
 */
export async function loadDefault<T, A>(url: string, name = nameOf(url)): Promise<Main<T, A>> {
  await prepareLoader(new URL(url))
  let module: { readonly default?: unknown }
  try {
    module = (await import(url)) as { readonly default?: unknown }
  } catch (cause) {
    if (isRankweaveError(cause, 'ERR_PROGRAM')) throw cause
    throw programError(name, `${name} failed to load: ${describe(cause)}`, cause)
  }
  const main = module.default
  if (typeof main === 'function') return main as Main<T, A>
  const got = main === undefined ? 'no default export' : `a default export of type ${typeof main}`
  throw programError(name, `${name}: expected a default export (world, args) => ..., got ${got}`)
}

export function programError(file: string, message: string, cause?: unknown): RankweaveError {
  return new RankweaveError('ERR_PROGRAM', message, { details: { file }, cause })
}

/** What this thread's loader has learned: hooks stay, and twice the same would ask each other. */
const learned = { typescript: false, ownName: false }

/**
 * Node loads JavaScript by itself; TypeScript needs the compiler's hook, below ours because ours asks it. A hook starts
 * a thread on Node 20 and makes every import wait for it, so none is set where the program has this copy anyway.
 */
async function prepareLoader(url: URL): Promise<void> {
  const typescript = extname(url.pathname).endsWith('ts') && !learned.typescript
  if (typescript) {
    const tsx = await import('tsx/esm/api')
    tsx.register({ tsconfig: false })
    learned.typescript = true
  }
  if (learned.ownName && !typescript) return
  if (!typescript && hasThisCopy(url)) return
  register(resolver, { parentURL: import.meta.url, data: { own: ownExports() } })
  learned.ownName = true
}

/** Whether `import 'rankweave'` means this copy of the library to the program all by itself. */
function hasThisCopy(program: URL): boolean {
  // Where `require` looks, but `import` does not.
  if (process.env['NODE_PATH'] !== undefined) return false
  try {
    const found = createRequire(program).resolve('rankweave')
    return pathToFileURL(found).href === ownModule('entry/index').href
  } catch {
    return false
  }
}

/** The import paths of this package below its root, as in package.json; a test keeps them equal. */
const subpaths = ['topology', 'schedule', 'spmm', 'graphology', 'fabric', 'conformance', 'errors']

/** URL of every import path of this package, as compiled or as source. */
function ownExports(): Readonly<Record<string, string>> {
  const entries = subpaths.map((name) => [`rankweave/${name}`, ownModule(`entry/${name}`).href])
  return { rankweave: ownModule('entry/index').href, ...Object.fromEntries(entries) }
}

/**
 * Sends our own name to our own files, and reads `.ts` as an ES module even where no package.json says so: as
 * CommonJS it could not await at top level, nor import this library on every Node we support.
 */
const resolver = `data:text/javascript,${encodeURIComponent(`
  let own = {}
  export function initialize(data) { own = data.own }
  export async function resolve(specifier, context, next) {
    const found = await next(Object.hasOwn(own, specifier) ? own[specifier] : specifier, context)
    const typescript = /^file:.*\\.ts(\\?|$)/.test(found.url) && found.format === 'commonjs'
    return typescript ? { ...found, format: 'module' } : found
  }
`)}`

function nameOf(url: string): string {
  return url.startsWith('file:') ? fileURLToPath(url) : url
}

function describe(cause: unknown): string {
  return cause instanceof Error ? `${cause.name}: ${cause.message}` : String(cause)
}
