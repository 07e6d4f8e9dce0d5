import { cpSync, readdirSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { buildSync } from 'esbuild'
import { isOlder, root } from './newer.js'

/** Beside package.json, as `src` is: see src/package-paths.ts. */
const folder = '.compiled'
const done = `${folder}/done`

/**
 * Compiles every module of `src` for itself, for tests in one thread: vitest transforms and links sources for
 * each project anew, and calls between its modules go through getters. A file of `test/paper` alone takes 10
 * s of a core instead of 12.
 */
export default function compileSources(): void {
  if (!isOlder(done, ['package.json', 'src', 'test/support/compile-sources.ts'])) return
  // What is saved while it is compiled is compiled again next time.
  const began = new Date()
  // Nothing may be imported from where it was before.
  rmSync(root + folder, { recursive: true, force: true })
  const modules = readdirSync(`${root}src`, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.ts'),
  )
  buildSync({
    entryPoints: modules.map((name) => `${root}src/${name}`),
    outbase: `${root}src`,
    outdir: root + folder,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    sourcemap: 'inline',
    sourcesContent: false,
    logLevel: 'warning',
  })
  for (const path of ['export/c', 'measure/c', 'shim/c']) {
    cpSync(`${root}src/${path}`, `${root}${folder}/${path}`, { recursive: true })
  }
  // The page as it was built last: it is not compiled module by module.
  symlinkSync(`${root}dist/web`, `${root}${folder}/web`)
  writeFileSync(root + done, '')
  utimesSync(root + done, began, began)
}
