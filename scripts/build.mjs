// Makes dist/ of src/: types by the compiler, code by the bundler.
//
// Every thread of a world loads the library for itself, and 150 small modules take five times as long to load
// as the same code in a few (docs/decisions/0006). What several entry points share is in chunks, so every
// module still exists once.
import { execFileSync } from 'node:child_process'
import { chmodSync, cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { argv, stderr } from 'node:process'
import { fileURLToPath } from 'node:url'
import { buildSync } from 'esbuild'
import { buildPage } from './build-page.mjs'
import { licensesOf } from './licenses.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))

/** What is loaded by URL and not by import. */
const entriesByUrl = [
  'worker',
  'child',
  'package-paths',
  'websocket/rendezvous/heartbeat-thread-nodejs',
  'service/jobs/planning-worker',
  'conformance/program',
  'cli/program/bench-program',
  'cli/program/calibrate-program',
  'cli/program/loaded-program',
  'cli/program/spmm-program',
  'cli/program/split-program',
  'cli/program/study-program',
]

/** Modules that users import or run, as paths below src without extension. */
function entries() {
  const exported = Object.values(manifest.exports).flatMap((target) => target.default ?? [])
  const paths = [...exported, ...Object.values(manifest.bin)]
  const modules = paths.map((path) => path.replace(/^(\.\/)?dist\//, '').replace(/\.js$/, ''))
  return [...modules.filter((path) => path !== pageEntry), ...entriesByUrl]
}

/** What pages load: one file that is whole, so that no chunk of it serves a process of Node, too. */
const pageEntry = 'entry/browser'

/** What is no module, below src. */
const files = ['export/c', 'shim/c']

/** Packages that users install beside this one; the code of others is in the bundle. */
const external = [...Object.keys(manifest.dependencies), ...Object.keys(manifest.optionalDependencies)]

/** The code of the package, without its types. @param {string} folder */
export function bundle(folder) {
  const library = buildSync({
    absWorkingDir: root,
    entryPoints: entries().map((path) => ({ in: join(root, 'src', `${path}.ts`), out: path })),
    outdir: folder,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    external,
    metafile: true,
    // Chunks lie where src/package-paths.ts expects to be.
    chunkNames: '[name]-[hash]',
    logLevel: 'warning',
  })
  const page = buildSync({
    absWorkingDir: root,
    entryPoints: [join(root, 'src', `${pageEntry}.ts`)],
    outfile: join(folder, `${pageEntry}.js`),
    bundle: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    // A solver, loaded by a program that asks for it.
    external: ['highs'],
    metafile: true,
    // Pages load it unchanged; names are for stacks and inspections.
    minify: true,
    keepNames: true,
    logLevel: 'warning',
  })
  const modules = [library, page].flatMap(({ metafile }) => Object.keys(metafile.inputs))
  writeFileSync(join(folder, 'licenses.txt'), licensesOf(modules.map((path) => join(root, path))))
  for (const path of files) cpSync(join(root, 'src', path), join(folder, path), { recursive: true })
  for (const name of readdirSync(folder, { recursive: true })) {
    const file = join(folder, String(name))
    if (file.endsWith('.js')) writeFileSync(file, withClassNames(readFileSync(file, 'utf8')))
  }
}

/**
 * The bundler makes `var Group = class _Group` of a class that refers to itself, and stacks and inspections
 * show the inner name: both may be the same. @param {string} code
 */
function withClassNames(code) {
  const renamed = [...code.matchAll(/^var (\w+) = class _\1\b/gm)].map(([, name]) => name)
  return renamed.reduce((text, name) => text.replace(new RegExp(`\\b_${name}\\b`, 'g'), name), code)
}

if (argv[1] === fileURLToPath(import.meta.url)) {
  const dist = join(root, 'dist')
  rmSync(dist, { recursive: true, force: true })
  // Standard output belongs to what runs next, such as the command of `npm start`.
  stderr.write('building dist/, takes about 10 s\n')
  const tsc = createRequire(import.meta.url)
    .resolve('@typescript/native/package.json')
    .replace(/package\.json$/, 'bin/tsc')
  execFileSync(process.execPath, [tsc, '-p', 'tsconfig.build.json'], { cwd: root, stdio: 'inherit' })
  bundle(dist)
  await buildPage(join(dist, 'web'))
  chmodSync(join(dist, 'cli/main.js'), 0o755)
}
