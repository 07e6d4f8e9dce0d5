import {
  cpSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { buildSync } from 'esbuild'
import { buildAlone } from './build-lock.js'
import { isOlder, root } from './newer.js'

/** Beside package.json, as `src` is: see src/package-paths.ts. */
const folder = '.compiled'
const done = `${folder}/done`
/** What is compiled for MPI, by the hash of its sources (support/shim.ts). */
export const shims = `${folder}/shims`
/** Folders of `src` that programs copy unchanged. */
export const foldersOfC = ['export/c', 'measure/c', 'profile/c', 'shim/c']
/** The age at which a folder of `shims` goes. A run that uses one makes it new. */
const shimsMs = 24 * 3_600_000

/**
 * Compiles every module of `src` for itself, for tests in one thread: vitest transforms and links sources for
 * each project anew, and calls between its modules go through getters. A file of `test/paper` alone takes 10
 * s of a core instead of 12. Files are replaced one by one, since another run of this checkout may import them.
 */
export default function compileSources(): void {
  compileModules(root, ['package.json', 'src', 'test/support/compile-sources.ts'])
}

/** @param sources the paths of what, when it changes, is compiled again */
export function compileModules(checkout: string, sources: readonly string[]): void {
  buildAlone(
    checkout,
    () => isOlder(done, sources, checkout),
    () => compile(checkout),
  )
}

function compile(checkout: string): void {
  // What is saved while it is compiled is compiled again next time.
  const began = new Date()
  const draft = `${checkout}${folder}/draft`
  rmSync(draft, { recursive: true, force: true })
  const modules = readdirSync(`${checkout}src`, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.ts'),
  )
  buildSync({
    entryPoints: modules.map((name) => `${checkout}src/${name}`),
    outbase: `${checkout}src`,
    outdir: draft,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    sourcemap: 'inline',
    sourcesContent: false,
    logLevel: 'warning',
  })
  for (const path of foldersOfC) {
    cpSync(`${checkout}src/${path}`, `${draft}/${path}`, { recursive: true })
  }
  // The page as it was built last: it is not compiled module by module.
  symlinkSync(`${checkout}dist/web`, `${draft}/web`)
  const made = filesIn(draft)
  for (const name of made) {
    mkdirSync(dirname(`${checkout}${folder}/${name}`), { recursive: true })
    renameSync(`${draft}/${name}`, `${checkout}${folder}/${name}`)
  }
  rmSync(draft, { recursive: true })
  // Nothing may be imported from where it was before.
  const kept = new Set([...made, 'done', 'lock'])
  for (const name of filesIn(checkout + folder)) {
    if (!kept.has(name) && !name.startsWith('shims/')) rmSync(`${checkout}${folder}/${name}`)
  }
  removeOldShims(checkout)
  writeFileSync(checkout + done, '')
  utimesSync(checkout + done, began, began)
}

/** The files of a folder by their paths there; a link counts as a file. */
function filesIn(path: string): string[] {
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map(({ parentPath, name }) => `${parentPath}/${name}`.slice(path.length + 1))
}

function removeOldShims(checkout: string): void {
  mkdirSync(checkout + shims, { recursive: true })
  for (const name of readdirSync(checkout + shims)) {
    const path = `${checkout}${shims}/${name}`
    if (Date.now() - statSync(path).mtimeMs > shimsMs) rmSync(path, { recursive: true, force: true })
  }
}
