// Makes dist/ of src/: types by the compiler, code by the bundlers.
//
// Every thread of a world loads the library for itself, and many small modules take longer to load than the
// same code in a few (docs/decisions/0068). What several entry points share is in chunks, so every module
// still exists once.
import { execFile, execFileSync } from 'node:child_process'
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { argv, stderr } from 'node:process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { buildSync } from 'esbuild'
import { rolldown } from 'rolldown'
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
  'cli/program/calibrate-program',
  'cli/program/loaded-program',
  'cli/program/measure-program',
  'cli/program/overview-program',
  'cli/program/spmm-program',
  'cli/program/split-program',
  'cli/program/study-program',
]

/** Modules that users import or run, as paths below src without extension. */
function entries() {
  const exported = Object.values(manifest.exports).flatMap((target) => target.default ?? [])
  const paths = [...exported, commandEntry]
  const modules = paths.map((path) => path.replace(/^(\.\/)?dist\//, '').replace(/\.js$/, ''))
  return [...modules.filter((path) => path !== pageEntry), ...entriesByUrl]
}

/** What bin/rankweave.js loads. */
const commandEntry = 'dist/cli/main.js'

/** What pages load: one file that is whole, so that no chunk of it serves a process of Node, too. */
const pageEntry = 'entry/browser'

/** What is no module, below src. */
const files = ['export/c', 'measure/c', 'profile/c', 'shim/c']

/** Packages that users install beside this one; the code of others is in the bundle. */
const external = ['dependencies', 'optionalDependencies', 'peerDependencies'].flatMap((kind) =>
  Object.keys(manifest[kind] ?? {}),
)

/**
 * The kinds of entries that start with the library: what starts with it is in one chunk for each set of kinds
 * that reach it, so that each loads few files and nothing that is not its own.
 */
const kinds = {
  errors: ['entry/errors'],
  command: ['cli/main'],
  run: ['cli/commands/run'],
  topology: ['entry/topology', 'entry/graphology'],
  machine: ['entry/machine'],
  plan: ['entry/schedule', 'entry/models'],
  fabric: ['entry/fabric', 'entry/rendezvous', 'entry/client'],
  program: entriesByUrl.filter((path) => path.includes('/program')),
  worker: ['worker'],
  root: ['entry/index'],
  creation: ['topology-communicator/creation', 'handles/cart-communicator'],
}
const startsWorlds = ['run', 'worker', 'root', 'creation']
/** Loaded where a worker's modules are loaded already. */
const afterWorker = ['program', 'creation']

/** @returns {(id: string, context: import('rolldown').ChunkingContext) => string | null} the chunk of a module */
function chunks() {
  /** @type {[string, Set<string>][] | undefined} */
  let reached
  return (id, context) => {
    // Files that are known by their place, and barrels.
    if (entryModules.has(id)) return null
    reached ??= Object.entries(kinds).map(([kind, paths]) => [kind, modulesFrom(paths, context)])
    const all = reached.flatMap(([kind, modules]) => (modules.has(id) ? kind : []))
    const by = all.includes('worker') ? all.filter((kind) => !afterWorker.includes(kind)) : all
    return by.some((kind) => startsWorlds.includes(kind)) ? by.join('-') : null
  }
}

/** What entries load before they run. @param {string[]} paths */
function modulesFrom(paths, context) {
  const modules = new Set()
  const open = paths.map(sourceOf)
  while (open.length > 0) {
    const id = open.pop()
    const found = modules.has(id) ? null : context.getModuleInfo(id)
    if (found === null) continue
    modules.add(id)
    open.push(...found.importedIds)
  }
  return modules
}

const sourceOf = (path) => join(root, 'src', `${path}.ts`)
const entryModules = new Set(entries().map(sourceOf))

/** The code of the package, without its types. @param {string} folder */
export async function bundle(folder) {
  const library = await rolldown({
    cwd: root,
    input: Object.fromEntries(entries().map((path) => [path, sourceOf(path)])),
    platform: 'node',
    external: (id) => external.some((name) => id === name || id.startsWith(`${name}/`)),
    transform: { target: 'node20' },
    // Entries export what they say, since no module outside an entry imports what is inside.
    preserveEntrySignatures: 'allow-extension',
    logLevel: 'warn',
  })
  const { output } = await library.write({
    dir: folder,
    format: 'esm',
    entryFileNames: '[name].js',
    // Chunks lie where src/package-paths.ts expects to be.
    chunkFileNames: '[name]-[hash].js',
    codeSplitting: {
      includeDependenciesRecursively: false,
      groups: [{ name: chunks(), debugName: 'kinds of entries' }],
    },
    comments: { legal: true, annotation: true, jsdoc: false },
    // Constants are read in hot loops: as `var` without a check that they are initialized.
    topLevelVar: true,
  })
  await library.close()
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
  const modules = [
    ...output.flatMap((piece) => (piece.type === 'chunk' ? piece.moduleIds : [])),
    ...Object.keys(page.metafile.inputs).map((path) => join(root, path)),
  ]
  writeFileSync(join(folder, 'licenses.txt'), licensesOf(modules))
  for (const path of files) cpSync(join(root, 'src', path), join(folder, path), { recursive: true })
}

/** Removes the types that no entry refers to: programs cannot import them. @param {string} folder */
function keepTypesOfEntries(folder) {
  const types = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) =>
    path.endsWith('.d.ts'),
  )
  const kept = new Set()
  const open = types.filter((path) => dirname(path) === 'entry')
  while (open.length > 0) {
    const path = open.pop()
    if (kept.has(path) || !existsSync(join(folder, path))) continue
    kept.add(path)
    // Imports, exports, and types by `import('...')`; a comment that holds such a text keeps a file more.
    for (const [, target] of readFileSync(join(folder, path), 'utf8').matchAll(
      /["'](\.{1,2}\/[^"']+)\.js["']/g,
    ))
      open.push(join(dirname(path), `${target}.d.ts`))
  }
  for (const path of types) if (!kept.has(path)) rmSync(join(folder, path))
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
  keepTypesOfEntries(dist)
  const types = promisify(execFile)(process.execPath, [join(root, 'scripts/plain-types.mjs'), dist])
  await bundle(dist)
  await buildPage(join(dist, 'web'))
  await types
}
