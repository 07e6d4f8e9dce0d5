import { execFileSync } from 'node:child_process'
import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { isBuiltin } from 'node:module'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core'
import { buildSync } from 'esbuild'
import { publint } from 'publint'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ownPrograms } from '../src/cli/program/run-own-program.js'
import { isSoak } from './support/soak.js'

/**
 * The package as npm would install it: packed, unpacked into node_modules of an empty folder, its
 * dependencies beside it. These are linked from here, so that the test needs no network.
 */
const root = fileURLToPath(new URL('..', import.meta.url))
let folder: string
let installed: string
let tarball: string

interface Manifest {
  readonly name: string
  readonly version: string
  readonly bin: Readonly<Record<string, string>>
  readonly exports: Readonly<Record<string, string | Readonly<Record<string, string>>>>
  readonly dependencies: Readonly<Record<string, string>>
}

const manifestIn = (path: string): Manifest =>
  JSON.parse(readFileSync(join(path, 'package.json'), 'utf8')) as Manifest

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'rankweave-package-'))
  const modules = join(folder, 'node_modules')
  installed = join(modules, 'rankweave')
  mkdirSync(join(modules, '.bin'), { recursive: true })
  // As prepack leaves it, without the API reference, which takes 10 seconds; dist/ is up to date
  // (build-library.ts).
  execFileSync('npm', ['pack', '--ignore-scripts', '--pack-destination', folder], {
    cwd: root,
    stdio: 'pipe',
  })
  const { name, version } = manifestIn(root)
  tarball = join(folder, `${name}-${version}.tgz`)
  execFileSync('tar', ['-xzf', tarball], { cwd: folder })
  execFileSync('mv', ['package', installed], { cwd: folder })
  // A TypeScript program on Node has Node's types.
  const beside = [...Object.keys(manifestIn(root).dependencies), '@types/node', 'undici-types']
  for (const dependency of beside) link(dependency, modules)
  symlinkSync(
    join('..', 'rankweave', manifestIn(installed).bin['rankweave']),
    join(modules, '.bin', 'rankweave'),
  )
  writeFileSync(join(folder, 'package.json'), '{ "name": "user", "private": true, "type": "module" }')
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function link(dependency: string, modules: string): void {
  const target = join(modules, dependency)
  mkdirSync(dirname(target), { recursive: true })
  symlinkSync(join(root, 'node_modules', dependency), target)
}

/** What entries load of other packages: graphs of users, and the decoder of compressed files. */
const packagesOf: Readonly<Record<string, readonly string[]>> = {
  graphology: ['graphology', 'graphology-communities-louvain'],
  topology: ['pako'],
  schedule: ['pako'],
  rendezvous: ['ws'],
}

/** Runs a program in the user's folder. */
const inFolder = (file: string, args: readonly string[]) =>
  execFileSync(file, args, { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })

const bin = (...args: string[]) => inFolder(join(folder, 'node_modules', '.bin', 'rankweave'), args)

/** What users import from: `rankweave`, `rankweave/topology`, ... */
const entryPaths = () =>
  Object.keys(manifestIn(installed).exports)
    .filter((path) => !path.endsWith('.json'))
    .map((path) => `rankweave${path.slice(1)}`)

const textOf = (file: string) => readFileSync(join(installed, 'dist', file), 'utf8')

/** What a file of `dist` loads before it runs: our files, and other packages. */
function loadedBy(entry: string): {
  readonly files: readonly string[]
  readonly packages: readonly string[]
} {
  const files = new Set<string>()
  const packages = new Set<string>()
  const visit = (file: string) => {
    if (files.has(file)) return
    files.add(file)
    // Line by line: comments and texts of ours may hold the same words.
    for (const [, target] of textOf(file).matchAll(
      /^(?:import|\} from|import .* from|export .* from) ?"([^"]+)";$/gm,
    )) {
      if (target.startsWith('.')) visit(join(dirname(file), target))
      else if (!isBuiltin(target)) packages.add(target)
    }
  }
  visit(entry)
  return { files: [...files], packages: [...packages] }
}

/** A test of `npm run soak` only: others show the same of the build. */
const inSoak = (title: string, check: () => unknown) => {
  if (isSoak) it(title, async () => void (await check()))
}

describe('the packed package', () => {
  it('holds every file that its manifest names, its pages, and no sources', () => {
    const { bin: bins, exports } = manifestIn(installed)
    for (const path of Object.values(bins)) accessSync(join(installed, path), constants.X_OK)
    for (const target of Object.values(exports)) {
      for (const path of typeof target === 'string' ? [target] : Object.values(target)) {
        expect(existsSync(join(installed, path)), path).toBe(true)
      }
    }
    // Comments in types cite decisions, pages cite decisions and records: they are packed, too.
    for (const path of [
      'README.md',
      'CHANGELOG.md',
      'SECURITY.md',
      'LICENSE',
      'docs/decisions',
      'examples',
    ]) {
      expect(existsSync(join(installed, path)), path).toBe(true)
    }
    for (const path of ['src', 'test', 'bench', '.ci']) {
      expect(existsSync(join(installed, path)), path).toBe(false)
    }
  })

  it('holds the programs of the command that threads load', () => {
    for (const name of ownPrograms)
      expect(existsSync(join(installed, 'dist/cli/program', `${name}.js`)), name).toBe(true)
  })

  it('holds the target of every relative link of its pages', () => {
    const pages = readdirSync(installed, { recursive: true, encoding: 'utf8' }).filter(
      (path) => path.endsWith('.md') && !path.startsWith(join('docs', 'reference')),
    )
    const missing = pages.flatMap((page) =>
      Array.from(
        readFileSync(join(installed, page), 'utf8').matchAll(/\]\(([^)#\s]+)/g),
        ([, target]) => target,
      )
        .filter((target) => !/^\w+:/.test(target) && !existsSync(join(installed, dirname(page), target)))
        .map((target) => `${page}: ${target}`),
    )
    expect(pages.length).toBeGreaterThan(10)
    expect(missing).toEqual([])
  })

  it('has a manifest in which publint finds no problem', async () => {
    const { messages } = await publint({ pkgDir: installed, pack: false, strict: true })
    expect(messages).toEqual([])
  })

  it('is short for pages: as long as docs/browser.md says, with the texts of one language', () => {
    const page = textOf('entry/browser.js')
    expect(page.length).toBeLessThan(990_000)
    expect(gzipSync(page).length).toBeLessThan(345_000)
    expect(readFileSync(join(installed, 'docs/browser.md'), 'utf8')).toContain(
      'less than 990 KB long, less than 345 KB when a server compresses it',
    )
    // A parser of messages says in 40 languages what is wrong with them, unless it is imported with care.
    expect(page).not.toMatch(/esperaba|attendu|erwartet/)
  })

  inSoak('has types that agree with its code, for ES modules on Node and for bundlers', async () => {
    const checked = await checkPackage(createPackageFromTarballData(readFileSync(tarball)))
    if (checked.types === false) throw new Error('the package has no types')
    // Node loads ES modules only, and resolution of before `exports` finds the root alone.
    const unsupported = ['node10', 'node16-cjs']
    const problems = checked.problems.filter(
      (problem) => !('resolutionKind' in problem && unsupported.includes(problem.resolutionKind)),
    )
    expect(problems).toEqual([])
    const paths = Object.keys(manifestIn(root).exports)
    expect(Object.keys(checked.entrypoints).sort()).toEqual(paths.sort())
  })

  it('installs its command under its name', () => {
    const planned = JSON.parse(bin('plan', 'moore:8x8:r=2', '--k', '3', '--json')) as Record<string, unknown>
    expect(planned).toMatchObject({ messages: { direct: 1536, planned: 988 }, verified: true })
    const multiplied = JSON.parse(bin('spmm', '-n', '16', '--json')) as Record<string, unknown>
    expect(multiplied).toMatchObject({ verified: true, maxRelativeError: 0 })
  })

  it('exports values from every entry', () => {
    const imports = entryPaths().map((path, i) => `import * as m${i} from '${path}'`)
    const sizes = entryPaths().map((_, i) => `Object.keys(m${i}).length`)
    writeFileSync(
      join(folder, 'imports.mjs'),
      `${imports.join('\n')}\nconsole.log(JSON.stringify([${sizes.join(', ')}]))`,
    )
    const counts = JSON.parse(inFolder(process.execPath, ['imports.mjs'])) as number[]
    expect(counts).toHaveLength(entryPaths().length)
    for (const count of counts) expect(count).toBeGreaterThan(0)
  })

  it('the worker entry loads few files, none of other packages, no readers of files and no command', () => {
    const { files, packages } = loadedBy('worker.js')
    expect(packages).toEqual([])
    // One for each set of kinds of entries that reach a module (scripts/build.mjs).
    expect(files.length).toBeGreaterThan(1)
    expect(files.length).toBeLessThan(25)
    const modules = files.flatMap((file) => textOf(file).match(/^\/\/ src\/.*$/gm) ?? [])
    expect(modules).toContain('// src/worker.ts')
    const unneeded = /^\/\/ src\/(text|topology\/(files|matrix|spec)|fabric\/(local|mpi)|conformance|cli)\//
    expect(modules.filter((module) => unneeded.test(module))).toEqual([])
  })

  it('the command loads one command, and nothing of it before it knows which', () => {
    const modulesOf = (file: string) =>
      loadedBy(file).files.flatMap((each) => textOf(each).match(/^\/\/ src\/.*$/gm) ?? [])
    const first = modulesOf('cli/main.js')
    expect(first).toContain('// src/cli/commands/commands.ts')
    expect(first.length).toBeLessThan(40)
    const early =
      /^\/\/ src\/(cli\/commands\/(?!commands?\.)|neighborhood|schedule|messages|comm|calls|launch)\//
    expect(first.filter((module) => early.test(module))).toEqual([])
    expect(loadedBy('cli/main.js').packages).toEqual(['commander'])
    const chunk = readdirSync(join(installed, 'dist')).find((name) => /^run-[\w-]{8}\.js$/.test(name))
    const loaded = modulesOf(chunk!)
    const commands = loaded.filter((module) => module.startsWith('// src/cli/commands/'))
    expect([...new Set(commands)]).toEqual(['// src/cli/commands/run.ts'])
    // Ranks are hosted elsewhere, or what hosts them is loaded then.
    const unneeded =
      /^\/\/ src\/(study|shim|export|models|calibrate|conformance|service|topology\/(files|matrix|spec)|topology-communicator|neighborhood|world\/world\.)/
    expect(loaded.filter((module) => unneeded.test(module))).toEqual([])
    expect(loadedBy(chunk!).packages).toEqual(['commander'])
  })

  it.each([
    ...['topology', 'machine', 'schedule', 'models', 'graphology', 'fabric', 'rendezvous', 'client'],
    'errors',
  ])('rankweave/%s loads no communicator', (name) => {
    const { files, packages } = loadedBy(`entry/${name}.js`)
    const isCommunicators = (file: string) => /^var Communicator = class\b/m.test(textOf(file))
    expect(loadedBy('entry/index.js').files.filter(isCommunicators)).toHaveLength(1)
    expect(files.filter(isCommunicators)).toEqual([])
    expect([...packages].sort()).toEqual(packagesOf[name] ?? [])
  })

  it('a bundler retains the side effect of the root, and nothing of an entry that is not used', () => {
    const bundled = (code: string) =>
      buildSync({
        stdin: { contents: code, resolveDir: folder },
        bundle: true,
        format: 'esm',
        platform: 'node',
        packages: 'bundle',
        external: ['koffi', 'highs', 'tsx'],
        write: false,
        logLevel: 'error',
      }).outputFiles[0].text
    expect(bundled(`import { run } from 'rankweave'; console.log(run)`)).toContain('installNeighborhood()')
    expect(bundled(`import { plan } from 'rankweave/schedule'`)).toHaveLength(0)
    expect(
      bundled(`import { dimsCreate } from 'rankweave/topology'; console.log(dimsCreate)`).length,
    ).toBeLessThan(
      bundled(`import { dimsCreate } from 'rankweave/topology'; import 'rankweave'; console.log(dimsCreate)`)
        .length / 2,
    )
  })

  it('exports every value from one entry only, except errors, which the root has, too', async () => {
    writeFileSync(
      join(folder, 'names.mjs'),
      `const names = {}
       for (const path of ${JSON.stringify(entryPaths())}) {
         for (const name of Object.keys(await import(path))) (names[name] ??= []).push(path)
       }
       console.log(JSON.stringify(names))`,
    )
    const names = JSON.parse(inFolder(process.execPath, ['names.mjs'])) as Record<string, string[]>
    // For pages, which cannot load the root.
    const ofPages = Object.keys(names).filter((name) => names[name].includes('rankweave/browser'))
    expect(ofPages.filter((name) => !names[name].includes('rankweave'))).toEqual([])
    for (const name of ofPages) names[name] = names[name].filter((entry) => entry !== 'rankweave/browser')
    const repeated = Object.entries(names).filter(([, entries]) => entries.length > 1)
    expect(Object.fromEntries(repeated)).toEqual({
      RankweaveError: ['rankweave', 'rankweave/errors'],
      isRankweaveError: ['rankweave', 'rankweave/errors'],
    })
    const root = Object.values(names).filter((entries) => entries.includes('rankweave'))
    expect(root.length).toBeLessThanOrEqual(40)
  })

  it('a program loaded by the command finds every entry', () => {
    const outside = mkdtempSync(join(tmpdir(), 'rankweave-outside-'))
    try {
      writeFileSync(
        join(outside, 'program.mts'),
        `${entryPaths()
          .map((path, i) => `import * as m${i} from '${path}'`)
          .join('\n')}
         export default () => [${entryPaths().map((_, i) => `Object.keys(m${i}).length > 0`)}].every(Boolean)`,
      )
      const answer = bin('run', join(outside, 'program.mts'), '-n', '1', '--json')
      expect(JSON.parse(answer)).toMatchObject({ results: [true] })
    } finally {
      rmSync(outside, { recursive: true, force: true })
    }
  })

  it('on threads, a JavaScript program has the same copy of the library as its worker', () => {
    writeFileSync(
      join(folder, 'threads.mjs'),
      `import { run, Communicator } from 'rankweave'
       import { isMainThread } from 'node:worker_threads'
       export default async (world) => {
         const cart = await world.createCart([world.size], { periods: [true] })
         const sum = await world.allreduce(Int32Array.of(world.rank), 'sum')
         return world instanceof Communicator && cart instanceof Communicator && sum[0] === 15
       }
       if (isMainThread) {
         const url = new URL(import.meta.url)
         console.log(JSON.stringify(await run(url, { ranks: 6, processes: 3, fabric: 'threads' })))
       }`,
    )
    const expected = new Array(6).fill(true)
    // Flags of the engine are refused when they are given to a worker.
    for (const flags of [[], ['--max-old-space-size=512', '--expose-gc']]) {
      expect(JSON.parse(inFolder(process.execPath, [...flags, 'threads.mjs']))).toEqual(expected)
    }
    const answer = JSON.parse(
      bin('run', 'threads.mjs', '-n', '6', '--fabric', 'threads', '--processes', '2', '--json'),
    )
    expect(answer).toMatchObject({ fabric: 'threads', results: expected })
  })

  inSoak('runs its conformance suites without a test runner, on threads too', () => {
    writeFileSync(
      join(folder, 'conformance.mjs'),
      `import { local, threads } from 'rankweave'
       import { collectiveConformance, fabricConformance } from 'rankweave/conformance'
       const names = []
       const suites = [
         fabricConformance(local({ processes: 2 })),
         collectiveConformance(threads({ processes: 2 }), {
           ranks: 3,
           expected: { kind: 'threads', processes: 2, places: 'threads' },
           sharedWorlds: true,
         }),
       ]
       for (const { name, run } of suites.flat()) {
         // These cases are below, by the command.
         if (name.endsWith(' cases on one world')) continue
         await run()
         names.push(name)
       }
       console.log(JSON.stringify(names))`,
    )
    const names = JSON.parse(inFolder(process.execPath, ['conformance.mjs'])) as string[]
    expect(names).toContain(
      'frames of a pair arrive in order, each exactly once, also from a process to itself',
    )
    expect(names.some((name) => /^\d\d cases on one world \(eagerLimitBytes/.test(name))).toBe(true)
    expect(names).toContain('abort ends the world while its ranks wait in any call')
  })

  it('a world can be checked by the command', () => {
    writeFileSync(
      join(folder, 'check.ts'),
      `import type { Communicator } from 'rankweave'
       import { checkWorld } from 'rankweave/conformance'
       export default (world: Communicator) =>
         checkWorld(world, { kind: 'threads', processes: 2, places: 'threads' })`,
    )
    const args = ['run', 'check.ts', '-n', '3', '--processes', '2', '--json']
    const answer = JSON.parse(bin(...args, '--fabric', 'threads')) as { results: string[][] }
    expect(answer.results[2]).toContain('alltoallv')
    expect(() => bin(...args, '--fabric', 'local')).toThrow('expected "threads", got "local"')
  })

  it('calls every class what its source calls it', () => {
    const files = readdirSync(join(installed, 'dist'), { recursive: true, encoding: 'utf8' })
    const renamed = files
      // In what pages load names are shortened, and restored when it runs.
      .filter((file) => file.endsWith('.js') && file !== join('entry', 'browser.js'))
      .flatMap((file) => textOf(file).match(/\bclass _\w+/g) ?? [])
    expect(renamed).toEqual([])
  })

  it('a JavaScript program starts a world by itself', () => {
    writeFileSync(
      join(folder, 'own.mjs'),
      `import { run } from 'rankweave'
       const main = async (world) => (await world.allreduce(Int32Array.of(world.rank), 'sum'))[0]
       console.log(JSON.stringify(await run(main, { ranks: 6, processes: 3 })))`,
    )
    expect(JSON.parse(inFolder(process.execPath, ['own.mjs']))).toEqual([15, 15, 15, 15, 15, 15])
  })

  inSoak('a bundled application runs on threads, given the package or the URL of a bundled worker', () => {
    const alone = join(folder, '..', `${basename(folder)}-bundled`)
    mkdirSync(alone)
    try {
      writeFileSync(join(folder, 'ranks.mjs'), 'export default (world) => world.allreduce(world.rank, "sum")')
      writeFileSync(
        join(folder, 'app.mjs'),
        `import { run, threads } from 'rankweave'
         const named = process.argv[2] === undefined ? {} : { workerUrl: new URL(process.argv[2], import.meta.url) }
         const program = new URL('./ranks.mjs', import.meta.url)
         run(program, { ranks: 2, fabric: threads(named) }).then(
           (values) => console.log(JSON.stringify(values)),
           (error) => console.log(error.code),
         )`,
      )
      buildSync({
        absWorkingDir: folder,
        entryPoints: {
          app: 'app.mjs',
          ranks: 'ranks.mjs',
          // Not ours, although it has that name.
          worker: 'ranks.mjs',
          'rankweave-worker': 'node_modules/rankweave/dist/worker.js',
        },
        outdir: alone,
        outExtension: { '.js': '.mjs' },
        bundle: true,
        format: 'esm',
        platform: 'node',
        external: ['koffi', 'highs', 'tsx'],
      })
      const app = (cwd: string, ...argv: string[]) =>
        execFileSync(process.execPath, [join(alone, 'app.mjs'), ...argv], { cwd, encoding: 'utf8' })
      expect(app(alone, './rankweave-worker.mjs')).toBe('[1,1]\n')
      expect(app(folder)).toBe('[1,1]\n')
      expect(app(alone).trim()).toBe('ERR_WORKER')
      expect(app(alone, './nowhere.mjs').trim()).toBe('ERR_WORKER')
    } finally {
      rmSync(alone, { recursive: true, force: true })
    }
  })

  it('a TypeScript program runs under the command, and type-checks against the types', () => {
    writeFileSync(
      join(folder, 'program.ts'),
      `import { type Communicator, isRankweaveError } from 'rankweave'
       export default async function main(world: Communicator, args: readonly string[]): Promise<string> {
         const graph = await world.createDistGraphAdjacent({
           sources: [(world.rank + world.size - 1) % world.size],
           destinations: [(world.rank + 1) % world.size],
         })
         const halo: Float64Array = await graph.neighborAllgather(Float64Array.of(world.rank))
         const refused = await world.send(halo, world.size).catch((error: unknown) => isRankweaveError(error, 'ERR_RANK'))
         return [...args, halo[0], refused].join()
       }`,
    )
    for (const fabric of ['local', 'threads']) {
      const answer = JSON.parse(
        bin('run', 'program.ts', '-n', '3', '--fabric', fabric, '--json', '--', 'left'),
      )
      expect(answer).toMatchObject({ fabric, results: ['left,2,true', 'left,0,true', 'left,1,true'] })
    }
    const imports = entryPaths().map((path, i) => `export * as m${i} from '${path}'`)
    writeFileSync(join(folder, 'entries.ts'), imports.join('\n'))
    writeFileSync(
      join(folder, 'tsconfig.json'),
      JSON.stringify({
        compilerOptions: {
          module: 'NodeNext',
          target: 'ES2022',
          lib: ['ES2023'],
          strict: true,
          noEmit: true,
          types: ['node'],
        },
        files: ['program.ts', 'check.ts', 'entries.ts'],
      }),
    )
    const compilers = ['@typescript/native/bin/tsc', ...(isSoak ? ['typescript/bin/tsc'] : [])]
    for (const compiler of compilers) {
      inFolder(process.execPath, [join(root, 'node_modules', compiler), '-p', '.'])
    }
  })
})
