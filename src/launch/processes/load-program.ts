import { readFileSync, realpathSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import module, { createRequire, isBuiltin, register } from 'node:module'
import { extname } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { runInNewContext } from 'node:vm'
import { holdListener } from '../../base/held-listener.js'
import { causeText, isRankweaveError, RankweaveError, reasonText } from '../../errors.js'
import { isPackaged, ownEntries, ownModule } from '../../package-paths.js'
import type { HostedMain, Main, UserProgram } from '../../world/user-program.js'

/** The choice of the exports of a program that run. */
export interface ProgramChoice {
  /**
   * Whether an export `hosted` runs instead of the default export. Default true; false: only the default export runs.
   */
  readonly hosted?: boolean
  /** The file as the caller named it, for messages. */
  readonly name?: string
}

/**
 * Loads a program's exports `default` and `hosted`. TypeScript is compiled while it loads, by `tsx` where that is
 * installed, or else by Node, which removes types only. `import 'rankweave'`
 * resolves to this copy of the library, so that a program works from any folder and never loads a second one.
 *
 * @throws ERR_PROGRAM when it fails to load, nothing here compiles TypeScript, it exports no default function, or exports `hosted` that is not a function
 */
export async function loadExports<T, A>(
  url: string,
  { hosted: isHosted = true, name = nameOf(url) }: ProgramChoice = {},
): Promise<UserProgram<T, A>> {
  await prepareLoader(new URL(url), name)
  let module: Exports
  try {
    module = (await import(url)) as Exports
  } catch (cause) {
    if (isRankweaveError(cause, 'ERR_PROGRAM')) throw cause
    const place = syntaxErrorPlace(cause)
    const where = place === undefined ? '' : ` (${place})`
    const hint = beyondNode.has((cause as NodeJS.ErrnoException)?.code)
      ? '; the package tsx compiles all of TypeScript: npm install tsx'
      : ''
    throw programError(name, `${name} failed to load: ${causeText(cause)}${where}${hint}`, cause)
  }
  const main = defaultOf(module)
  if (!isCallable(main)) {
    const got = main === undefined ? 'no default export' : `a default export of type ${typeText(main)}`
    throw programError(name, `${name}: expected a default export (world, args) => ..., got ${got}`)
  }
  const hosted = hostedOf(module)
  if (hosted !== undefined && !isCallable(hosted)) {
    const expected = 'expected as export hosted a function (worlds, args) => ...'
    throw programError(name, `${name}: ${expected}, got one of type ${typeText(hosted)}`)
  }
  if (hosted === undefined || !isHosted) return { main: main as Main<T, A> }
  return { main: main as Main<T, A>, hosted: hosted as HostedMain<T, A> }
}

/** Node's errors for syntax that is more than types, and for types below node_modules. */
const beyondNode: ReadonlySet<string | undefined> = new Set([
  'ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX',
  'ERR_UNSUPPORTED_NODE_MODULES_TYPE_STRIPPING',
])

/**
 * Loads a program like `loadExports`, but also fails when the program waits and nothing is left that could wake it.
 * So does a module that awaits `run` of itself in its own thread.
 */
export async function loadUnlessEmpty<T, A>(url: string, choice: ProgramChoice): Promise<UserProgram<T, A>> {
  let release: (() => void) | undefined
  const empty = new Promise<never>((_, reject) => {
    const name = nameOf(url)
    const reason = 'it waits, and nothing is left that could wake it (does it await a run of itself?)'
    const error = programError(name, `${name} failed to load: ${reason}`)
    // The rejection comes one turn later, because a program that loads another may handle this event itself.
    release = holdListener('beforeExit', () => setImmediate(reject, error))
  })
  try {
    return await Promise.race([loadExports<T, A>(url, choice), empty])
  } finally {
    release?.()
  }
}

/** Returns whether it can be called: a class is a function, too, but only for `new`. */
function isCallable(value: unknown): boolean {
  return typeText(value) === 'function'
}

function typeText(value: unknown): string {
  const isClass = typeof value === 'function' && /^class\b/.test(Function.prototype.toString.call(value))
  return isClass ? 'class' : typeof value
}

interface Exports {
  readonly default?: unknown
  readonly hosted?: unknown
}

/**
 * Returns the default export. The `default` of a CommonJS module is `module.exports`, whose own `default` is what the
 * author, or a compiler, exported.
 */
function defaultOf({ default: exported }: Exports): unknown {
  if (typeof exported !== 'object' || exported === null) return exported
  const { default: inner } = exported as Exports
  return typeof inner === 'function' ? inner : exported
}

/**
 * Returns the export `hosted`. Node may not find the names that a CommonJS module exports: they are properties of
 * `module.exports`.
 */
function hostedOf({ default: exported, hosted }: Exports): unknown {
  return hosted ?? (Object(exported) as Exports).hosted
}

export function programError(file: string, message: string, cause?: unknown): RankweaveError {
  return new RankweaveError('ERR_PROGRAM', message, { details: { file }, cause })
}

/** The hooks of this thread's loader: they stay, and two of the same kind would call each other. */
const installed = { typescript: false, ownName: false }

/**
 * Installs the hooks that a program needs. Node loads JavaScript by itself; tsx, if it is installed, has a hook below
 * this library's, which calls it. Such a hook starts a thread and makes every import wait for it. So a JavaScript
 * program that resolves to this copy anyway, or imports no package, gets none. If Node has hooks of the same thread,
 * and the compiler uses them, the program gets one of these.
 */
async function prepareLoader(url: URL, name: string): Promise<void> {
  // Bun compiles TypeScript by itself, and has no hooks.
  if ('bun' in process.versions) return
  const typescript = extname(url.pathname).endsWith('ts') && !installed.typescript
  const compiler = typescript ? await compilerFor(name) : null
  if (compiler === 'node') registerHooks!({ resolve: sourceFirst })
  if (typescript) installed.typescript = true
  if (installed.ownName && !typescript) return
  // Bundled, this code has no files that a program could import.
  if (!isPackaged()) return
  if (!typescript && (hasThisCopy(url) || !mayImportPackages(url, flags()))) return
  const own = ownExports()
  if (registerHooks === undefined || (compiler === 'tsx' && nodeMajor < 26)) {
    register(resolver, { parentURL: import.meta.url, data: { own } })
  } else {
    registerHooks({
      resolve(name, context, next) {
        const found = next(Object.hasOwn(own, name) ? own[name] : name, context)
        return isTypescriptAsCommonJs(found) ? { ...found, format: 'module' } : found
      },
    })
  }
  installed.ownName = true
}

/** Registers the hook of tsx, or leaves TypeScript to Node. @throws ERR_PROGRAM if there is neither */
async function compilerFor(name: string): Promise<'tsx' | 'node'> {
  try {
    const tsx = await import('tsx/esm/api')
    tsx.register({ tsconfig: false })
    return 'tsx'
  } catch (cause) {
    const { typescript } = process.features as { readonly typescript?: 'strip' | 'transform' | false }
    if (typescript && registerHooks !== undefined) return 'node'
    const message = `${name}: TypeScript needs Node 22.18 or newer, or the package tsx: npm install tsx (${reasonText(cause)})`
    throw programError(name, message)
  }
}

/** Finds `x.ts` where a program imports `./x.js`, as its compiler does. Every `.ts` is an ES module. */
const sourceFirst: ResolveHook = (name, context, next) => {
  const found = resolvedSource(name, context, next)
  const isOpen = found.format === undefined || found.format === null || found.format === 'commonjs-typescript'
  return isOpen && /^file:.*\.ts(\?|$)/.test(found.url) ? { ...found, format: 'module-typescript' } : found
}

function resolvedSource(...[name, context, next]: Parameters<ResolveHook>): Resolved {
  try {
    return next(name, context)
  } catch (error) {
    const source = name.replace(/\.([cm]?)js$/, '.$1ts')
    const isMissing = (error as NodeJS.ErrnoException).code === 'ERR_MODULE_NOT_FOUND'
    if (!isMissing || source === name || !/^(file:|\.{0,2}\/)/.test(name)) throw error
    return next(source, context)
  }
}

/** From version 26 on Node warns of hooks in another thread, and the compiler has none. */
const nodeMajor = Number.parseInt(process.versions.node, 10)

/** Node 22.15 and later have this function. */
const { registerHooks } = module as {
  readonly registerHooks?: (hooks: { readonly resolve: ResolveHook }) => unknown
}

type ResolveHook = (
  name: string,
  context: unknown,
  next: (name: string, context: unknown) => Resolved,
) => Resolved

interface Resolved {
  readonly url: string
  readonly format?: string | null | undefined
}

/**
 * Tells whether `.ts` was taken for CommonJS, because no package.json declares it as a module. As CommonJS it could not
 * await at top level, nor import this library on every supported version of Node.
 */
function isTypescriptAsCommonJs({ url, format }: Resolved): boolean {
  return format === 'commonjs' && /^file:.*\.ts(\?|$)/.test(url)
}

/** Returns the flags of this process, by which it may load modules. */
function flags(): readonly string[] {
  return [...process.execArgv, ...(process.env['NODE_OPTIONS'] ?? '').split(/\s+/)]
}

/** Returns whether `import 'rankweave'` in the program resolves to this copy of the library without a hook. */
function hasThisCopy(program: URL): boolean {
  // The variable affects `require`, but not `import`.
  if (process.env['NODE_PATH'] !== undefined) return false
  try {
    const found = createRequire(program).resolve('rankweave')
    return pathToFileURL(found).href === ownModule('entry/index').href
  } catch {
    return false
  }
}

/** Returns the URL of every import path of this package, compiled or as source. */
function ownExports(): Readonly<Record<string, string>> {
  const paths = ownEntries().map((entry) => [
    entry === 'index' ? 'rankweave' : `rankweave/${entry}`,
    ownModule(`entry/${entry}`).href,
  ])
  return Object.fromEntries(paths)
}

/** The source of a module that has the same hook, for Node's thread of hooks. */
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

/**
 * Returns the SHA-256 of a program's main module, as text. By it the processes of a world find out that they run the
 * same program. Covers the bytes of that one file, not what it imports.
 *
 * @throws ERR_PROGRAM when the file cannot be read
 */
export async function programDigest(program: URL): Promise<string> {
  // Threads take no digest, and `node:crypto` is a tenth of what they load.
  const { createHash } = await import('node:crypto')
  const hash = createHash('sha256')
  if (program.protocol !== 'file:') return hash.update(program.href).digest('hex')
  // A program may load a file more than once, with different queries.
  const file = new URL(program.pathname, program)
  try {
    return hash.update(await readFile(file)).digest('hex')
  } catch (cause) {
    throw programError(program.href, `${program.href} cannot be read: ${reasonText(cause)}`, cause)
  }
}

/** The most files of a program that are read. */
const mostFiles = 64

/** The form of `import ... from '...'`, `import '...'` and `export ... from '...'`, which begin a line. */
const statement =
  /^[ \t]*(?:import(?:[\s{*][\w$\s{},*]*?[\s}]from)?|export\s*[{*][\w$\s{},*]*?[\s}*]from)\s*(?:'([^'\n\\]+)'|"([^"\n\\]+)")/gm

/**
 * The form of other texts that may load a module, or a name that is not in the text. `import.meta` loads nothing by
 * itself.
 */
const other = /\bimport\b(?!\s*\.\s*meta\b(?!\s*\.\s*resolve))|\brequire\b|\bfrom\s*['"`]/

/**
 * Returns whether a JavaScript program may import a package. It is false only if the program and the files it imports
 * evidently import only each other and modules of Node.
 *
 * @param flags of this process, and of `NODE_OPTIONS`: modules that they load may add imports
 */
export function mayImportPackages(program: URL, flags: readonly string[]): boolean {
  if (flags.some((flag) => /^(-r|--require|--import|--loader|--experimental-loader)\b/.test(flag)))
    return true
  const files = new Set<string>()
  const open = [program]
  for (let url = open.pop(); url !== undefined; url = open.pop()) {
    let file: string
    let text: string
    try {
      file = realpathSync(fileURLToPath(url))
      if (files.has(file)) continue
      text = readFileSync(file, 'utf8')
    } catch {
      return true
    }
    files.add(file)
    if (files.size > mostFiles || !['.js', '.mjs'].includes(extname(file))) return true
    const names = Array.from(text.matchAll(statement), ([, single, double]) => single ?? double)
    if (other.test(text.replace(statement, ''))) return true
    for (const name of names) {
      // This module makes `require`.
      if (/^(node:)?module$/.test(name)) return true
      if (isBuiltin(name)) continue
      if (!/^\.{0,2}\//.test(name)) return true
      open.push(new URL(name, pathToFileURL(file)))
    }
  }
  return false
}

/** The file name of the script that throws an error again. */
const again = 'rankweave'

/**
 * Returns the place of a syntax error: the path of a file, which may be one that the program imports, and a line of it.
 * Node notes the place of an error in an ES module, and does not write it into the stack. A script of `node:vm` that
 * throws the error does: from then on the stack begins with the place.
 *
 * @returns `/path/file.mjs:4`; undefined for other errors, and if the place is not known
 */
function syntaxErrorPlace(error: unknown): string | undefined {
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
