import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core'
import { buildSync } from 'esbuild'
import { publint } from 'publint'
import { beforeAll, describe, expect, it } from 'vitest'
import { temporaryFolder } from '../support/temporary-folder.js'

/**
 * The package as npm would install it: packed, unpacked into node_modules of an empty folder, its
 * dependencies beside it. These are linked from here, so that the test needs no network.
 */
const root = fileURLToPath(new URL('../..', import.meta.url))
const folder = temporaryFolder('package')
/** From which no installed package is found. */
const bundles = temporaryFolder('bundled')
let installed: string
let tarball: string

const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  readonly name: string
  readonly version: string
  readonly bin: Readonly<Record<string, string>>
  readonly exports: object
  readonly dependencies: object
}

beforeAll(() => {
  const modules = join(folder(), 'node_modules')
  installed = join(modules, 'rankweave')
  mkdirSync(join(modules, '.bin'), { recursive: true })
  // As prepack leaves it, without the API reference, which takes 10 seconds; dist/ is up to date
  // (build-library.ts).
  const packing = ['pack', '--ignore-scripts', '--pack-destination', folder()]
  execFileSync('npm', packing, { cwd: root, stdio: 'pipe' })
  tarball = join(folder(), `${manifest.name}-${manifest.version}.tgz`)
  execFileSync('tar', ['-xzf', tarball], { cwd: folder() })
  execFileSync('mv', ['package', installed], { cwd: folder() })
  // A TypeScript program on Node has Node's types; where Node does not remove types, it has tsx, too.
  const isStripping = 'typescript' in process.features && process.features.typescript !== false
  const more = ['@types/node', 'undici-types', ...(isStripping ? [] : ['tsx'])]
  for (const dependency of [...Object.keys(manifest.dependencies), ...more]) {
    const target = join(modules, dependency)
    mkdirSync(dirname(target), { recursive: true })
    symlinkSync(join(root, 'node_modules', dependency), target)
  }
  symlinkSync(join('..', 'rankweave', manifest.bin['rankweave']), join(modules, '.bin', 'rankweave'))
  write('package.json', '{ "name": "user", "private": true, "type": "module" }')
})

const write = (name: string, text: string) => writeFileSync(join(folder(), name), text)

/** Runs a program in the user's folder. */
const inFolder = (file: string, args: readonly string[]) =>
  execFileSync(file, args, { cwd: folder(), encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
const node = (...args: string[]) => JSON.parse(inFolder(process.execPath, args)) as unknown
const command = (line: string) =>
  JSON.parse(inFolder(join(folder(), 'node_modules/.bin/rankweave'), line.split(' '))) as object

/** What users import from: `rankweave`, `rankweave/topology`, ... */
const entryPaths = Object.keys(manifest.exports)
  .filter((path) => !path.endsWith('.json'))
  .map((path) => `rankweave${path.slice(1)}`)

describe('the packed package', () => {
  it('holds pages for users, no sources, and no pages of contributors', () => {
    const packed = ['README.md', 'CHANGELOG.md', 'SECURITY.md', 'LICENSE', 'docs/errors.md', 'examples']
    expect(packed.filter((path) => !existsSync(join(installed, path)))).toEqual([])
    const left = ['src', 'test', 'bench', '.ci', 'docs/decisions', 'CONTRIBUTING.md']
    expect(left.filter((path) => existsSync(join(installed, path)))).toEqual([])
  })

  it('has at most 900 files', () => {
    const files = execFileSync('tar', ['-tzf', tarball], { encoding: 'utf8' }).trim().split('\n')
    // A release packs the API reference as well: a page for each entry and each class.
    expect(files.filter((path) => !path.startsWith('package/docs/reference/')).length).toBeLessThan(870)
  })

  it('has a manifest in which publint finds no problem', async () => {
    const { messages } = await publint({ pkgDir: installed, pack: false, strict: true })
    expect(messages).toEqual([])
  })

  it('has types that agree with its code, for ES modules on Node and for bundlers', async () => {
    const checked = await checkPackage(createPackageFromTarballData(readFileSync(tarball)))
    if (checked.types === false) throw new Error('the package has no types')
    // Node loads ES modules only, and resolution of before `exports` finds the root alone.
    const unsupported = ['node10', 'node16-cjs']
    const problems = checked.problems.filter(
      (problem) => !('resolutionKind' in problem && unsupported.includes(problem.resolutionKind)),
    )
    expect(problems).toEqual([])
    expect(Object.keys(checked.entrypoints).sort()).toEqual(Object.keys(manifest.exports).sort())
  })

  it('names the command that adds what serve needs', () => {
    const words = [
      join(installed, 'dist/cli/main.js'),
      'serve',
      '--port',
      '0',
      '--data',
      join(folder(), 'data'),
    ]
    const alone = spawnSync(process.execPath, words, { cwd: folder(), encoding: 'utf8' })
    expect(alone.status).toBe(2)
    expect(alone.stderr).toContain(`: npm install @rankweave/service@${manifest.version} (`)
  })

  it('installs its command, and a program that it loads finds every entry', () => {
    expect(command('plan moore:8x8:r=2 --k 3 --json')).toMatchObject({ verified: true })
    const imports = entryPaths.map((path, i) => `import * as m${i} from '${path}'`)
    const sizes = entryPaths.map((_, i) => `Object.keys(m${i}).length > 0`)
    write('entries.mts', `${imports.join('\n')}\nexport default () => [${sizes}].every(Boolean)`)
    expect(command('run entries.mts -n 1 --json')).toMatchObject({ results: [true] })
  })

  it('leaves a bundler nothing of an entry that is not used', () => {
    const bundled = (contents: string) =>
      buildSync({
        ...{ stdin: { contents, resolveDir: folder() }, bundle: true, format: 'esm', platform: 'node' },
        ...{ packages: 'bundle', external: ['koffi', 'highs', 'tsx'], write: false, logLevel: 'error' },
      }).outputFiles[0].text
    expect(bundled(`import { run } from 'rankweave'; console.log(run)`)).toContain('createDistGraphAdjacent')
    expect(bundled(`import { plan } from 'rankweave/schedule'`)).toHaveLength(0)
    const one = `import { dimsCreate } from 'rankweave/topology'; console.log(dimsCreate)`
    expect(bundled(`import { run } from 'rankweave'; ${one}`).length).toBeLessThan(2 * bundled(one).length)
  })

  it('gives a JavaScript program on threads the copy of the library that its worker has', () => {
    write(
      'threads.mjs',
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
    const results = new Array(6).fill(true)
    // Flags of the engine are refused when they are given to a worker.
    expect(node('--max-old-space-size=512', '--expose-gc', 'threads.mjs')).toEqual(results)
    const answer = command('run threads.mjs -n 6 --fabric threads --processes 2 --json')
    expect(answer).toMatchObject({ fabric: 'threads', results })
  })

  it('runs its conformance suites without a test runner', () => {
    write(
      'conformance.mjs',
      `import { local, threads } from 'rankweave'
       import { collectiveConformance, fabricConformance } from 'rankweave/conformance'
       const fabric = fabricConformance(local({ processes: 2 }))
       for (const { run } of fabric) await run()
       const expected = { kind: 'threads', processes: 2, places: 'threads' }
       const collectives = collectiveConformance(threads({ processes: 2 }), { ranks: 3, expected })
       await collectives.find(({ name }) => name.startsWith('abort ends the world')).run()
       console.log(JSON.stringify([fabric, collectives].map(({ length }) => length)))`,
    )
    const [fabric, collectives] = node('conformance.mjs') as number[]
    expect(fabric).toBeGreaterThan(10)
    expect(collectives).toBeGreaterThan(10)
  })

  it('runs a bundled application on threads, given the package or the URL of a bundled worker', () => {
    const alone = bundles()
    write('ranks.mjs', 'export default (world) => world.allreduce(world.rank, "sum")')
    write(
      'app.mjs',
      `import { run, threads } from 'rankweave'
       const named = process.argv[2] === undefined ? {} : { workerUrl: new URL(process.argv[2], import.meta.url) }
       const program = new URL('./ranks.mjs', import.meta.url)
       run(program, { ranks: 2, fabric: threads(named) }).then(
         (values) => console.log(JSON.stringify(values)),
         (error) => console.log(error.code),
       )`,
    )
    // The worker is not ours, although it has that name.
    const entryPoints = { app: 'app.mjs', ranks: 'ranks.mjs', worker: 'ranks.mjs' }
    const own = { 'rankweave-worker': 'node_modules/rankweave/dist/worker.js' }
    buildSync({
      ...{ absWorkingDir: folder(), entryPoints: { ...entryPoints, ...own }, outdir: alone, bundle: true },
      ...{
        outExtension: { '.js': '.mjs' },
        format: 'esm',
        platform: 'node',
        external: ['koffi', 'highs', 'tsx'],
      },
    })
    const app = (cwd: string, ...argv: string[]) =>
      execFileSync(process.execPath, [join(alone, 'app.mjs'), ...argv], { cwd, encoding: 'utf8' }).trim()
    expect(app(alone, './rankweave-worker.mjs')).toBe('[1,1]')
    expect(app(folder())).toBe('[1,1]')
    expect(app(alone)).toBe('ERR_WORKER')
    expect(app(alone, './nowhere.mjs')).toBe('ERR_WORKER')
  })

  it('has types with which programs compile, and a command that runs them', () => {
    write(
      'program.ts',
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
    write(
      'check.ts',
      `import type { Communicator } from 'rankweave'
       import { checkWorld } from 'rankweave/conformance'
       export default (world: Communicator) =>
         checkWorld(world, { kind: 'threads', processes: 2, places: 'threads' })`,
    )
    for (const fabric of ['local', 'threads']) {
      const answer = command(`run program.ts -n 3 --fabric ${fabric} --json -- left`)
      expect(answer).toMatchObject({ fabric, results: ['left,2,true', 'left,0,true', 'left,1,true'] })
    }
    const check = (fabric: string) => command(`run check.ts -n 3 --processes 2 --json --fabric ${fabric}`)
    expect((check('threads') as { results: string[][] }).results[2]).toContain('alltoallv')
    expect(() => check('local')).toThrow('expected "threads", got "local"')
    const imports = entryPaths.map((path, i) => `export * as m${i} from '${path}'`)
    write('entries.ts', imports.join('\n'))
    const compilerOptions = {
      ...{ module: 'NodeNext', target: 'ES2022', lib: ['ES2023'] },
      ...{ strict: true, noEmit: true, types: ['node'] },
    }
    const included = ['program.ts', 'check.ts', 'entries.ts']
    write('tsconfig.json', JSON.stringify({ compilerOptions, files: included }))
    inFolder(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', '.'])
  })
})
