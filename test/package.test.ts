import { accessSync, constants, existsSync, readdirSync, readFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { dirname, join, normalize } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { ownPrograms } from '../src/cli/program/run-program.js'

// What the manifest promises about dist/ and the pages. `soak/package.soak.ts` packs, installs and uses them.

const root = fileURLToPath(new URL('..', import.meta.url))
const textOf = (path: string) => readFileSync(join(root, path), 'utf8')
const { bin, exports, files, peerDependencies, version } = JSON.parse(textOf('package.json')) as {
  readonly version: string
  readonly peerDependencies: Readonly<Record<string, string>>
  readonly bin: Readonly<Record<string, string>>
  readonly exports: Readonly<Record<string, string | Readonly<Record<string, string>>>>
  readonly files: readonly string[]
}

/** The other packages that entries load at start: graphs of users, and the decoder of compressed files. */
const packagesOf: Readonly<Record<string, readonly string[]>> = {
  graphology: ['graphology'],
  topology: ['pako'],
  schedule: ['pako'],
  rendezvous: ['ws', 'zod'],
}

/** What a file of `dist` loads before it runs: our files, and other packages, those whose code it has included. */
function loadedBy(entry: string): {
  readonly files: readonly string[]
  readonly packages: readonly string[]
} {
  const [loaded, packages] = [new Set<string>(), new Set<string>()]
  const visit = (file: string) => {
    if (loaded.has(file)) return
    loaded.add(file)
    // Line by line: comments and texts of ours may hold the same words.
    const imports = /^(?:import|\} from|import .* from|export .* from) ?"([^"]+)";$/gm
    const text = textOf(`dist/${file}`)
    for (const name of ['pako', 'zod']) if (text.includes(`\n// node_modules/${name}/`)) packages.add(name)
    for (const [, target] of text.matchAll(imports)) {
      if (target.startsWith('.')) visit(join(dirname(file), target))
      else if (!isBuiltin(target)) packages.add(target)
    }
  }
  visit(entry)
  return { files: [...loaded], packages: [...packages] }
}

/** The sources whose code a file of `dist` loads before it runs. */
const modulesOf = (file: string) =>
  loadedBy(file).files.flatMap((each) => textOf(`dist/${each}`).match(/(?<=^\/\/ )src\/.*$/gm) ?? [])

const packed = files.filter((path) => !path.startsWith('!'))
/** What contributors read, and results of benches: pages that are packed may link to them. */
const ofRepository = [
  ...files.filter((path) => path.startsWith('!')).map((path) => path.slice(1)),
  'CONTRIBUTING.md',
]
const isIn = (paths: readonly string[], path: string) =>
  paths.some((each) => path === each || path.startsWith(`${each}/`))
const isPacked = (path: string) => isIn(packed, path) && !isIn(ofRepository, path)

describe('the manifest', () => {
  it('names files that are packed and exist', () => {
    for (const path of [...packed, ...ofRepository]) expect(existsSync(join(root, path)), path).toBe(true)
    const targets = Object.values(exports).flatMap((target) => Object.values(target))
    for (const path of targets.filter((target) => target.startsWith('./dist'))) {
      expect(isPacked(normalize(path))).toBe(true)
      accessSync(join(root, path))
    }
    for (const path of Object.values(bin)) accessSync(join(root, path), constants.X_OK)
    for (const name of ownPrograms) accessSync(join(root, 'dist/cli/program', `${name}.js`))
  })

  it('installs no package that wants a newer Node: light-my-request is one for that reason', () => {
    const { packages } = JSON.parse(textOf('package-lock.json')) as {
      readonly packages: Readonly<
        Record<string, { readonly dev?: true; readonly engines?: { readonly node?: string } }>
      >
    }
    const least = (range: string) =>
      Math.min(...range.split('||').map((each) => Number(/\d+/.exec(each)?.[0] ?? 0)))
    const wanted = Object.entries(packages).flatMap(([name, { dev, engines }]) =>
      dev === true ? [] : [{ name, node: least(engines?.node ?? '0') }],
    )
    expect(wanted.length).toBeGreaterThan(50)
    expect(wanted.filter(({ node }) => node > 20)).toEqual([])
    expect(packages['node_modules/light-my-request']).toBeDefined()
  })

  it('has the version of the package of the service, which it asks for', () => {
    const service = JSON.parse(textOf('packages/service/package.json')) as object
    expect(service).toMatchObject({ name: '@rankweave/service', version })
    expect(peerDependencies['@rankweave/service']).toBe(version)
  })

  it('brings at most 12 packages, none with a script that installs it', () => {
    const { packages } = JSON.parse(textOf('package-lock.json')) as {
      readonly packages: Readonly<
        Record<string, { readonly dependencies?: object; readonly hasInstallScript?: true }>
      >
    }
    const brought = new Set([''])
    for (const path of brought)
      for (const name of Object.keys(packages[path].dependencies ?? {}))
        brought.add(
          [`${path}/node_modules/${name}`, `node_modules/${name}`].find((each) => each in packages)!,
        )
    expect([...brought].filter((path) => packages[path].hasInstallScript === true)).toEqual([])
    expect(brought.size).toBeLessThanOrEqual(12)
    expect(brought).toContain('node_modules/ws')
  })

  it('packs the target of every relative link of the pages that it packs, unless the repository alone has it', () => {
    const below = ['docs', 'examples'].flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map(
        (path) => `${folder}/${path}`,
      ),
    )
    const pages = [...packed, ...below].filter(
      (path) => isPacked(path) && /\.md$/.test(path) && !/^docs\/reference/.test(path),
    )
    const links = pages.flatMap((page) =>
      Array.from(textOf(page).matchAll(/\]\(([^)#\s:]+)(?=[)#])/g), ([, target]) =>
        join(dirname(page), target),
      ),
    )
    expect(links.length).toBeGreaterThan(100)
    const targets = links.map((target) => target.replace(/\/$/, ''))
    expect(targets.filter((target) => !isPacked(target) && !isIn(ofRepository, target))).toEqual([])
  })
})

describe('dist', () => {
  it('is short for pages, with the texts of one language', () => {
    const page = textOf('dist/entry/browser.js')
    expect(page.length).toBeLessThan(1_012_000)
    expect(gzipSync(page).length).toBeLessThan(352_000)
    // A parser of messages says in 40 languages what is wrong with them, unless it is imported with care.
    expect(page).not.toMatch(/esperaba|attendu|erwartet/)
  })

  it('has a worker of few files, none of other packages, no readers of files and no command', () => {
    const loaded = loadedBy('worker.js')
    expect(loaded.packages).toEqual([])
    // One for each set of kinds of entries that reach a module (scripts/build.mjs).
    expect(loaded.files.length).toBeLessThan(25)
    const modules = modulesOf('worker.js')
    expect(modules).toContain('src/worker.ts')
    const unneeded =
      /^src\/(text\/(?!printable\.)|topology\/(files|matrix|spec)\/|fabric\/(local|mpi)\/|conformance\/|cli\/)/
    expect(modules.filter((module) => unneeded.test(module))).toEqual([])
  })

  it('has a command that loads one subcommand, and nothing of it before it knows which', () => {
    const first = modulesOf('cli/main.js')
    expect(first).toContain('src/cli/commands/commands.ts')
    expect(first.length).toBeLessThan(40)
    const early = /^src\/(cli\/commands\/(?!commands?\.)|neighborhood|schedule|messages|comm|calls|launch)\//
    expect(first.filter((module) => early.test(module))).toEqual([])
    expect(loadedBy('cli/main.js').packages).toEqual(['commander'])
    const chunk = readdirSync(join(root, 'dist')).find((name) => /^run-[\w-]{8}\.js$/.test(name))!
    const modules = modulesOf(chunk)
    const commands = modules.filter((module) => module.startsWith('src/cli/commands/'))
    expect([...new Set(commands)]).toEqual(['src/cli/commands/run.ts'])
    // Ranks are hosted elsewhere, or what hosts them is loaded then.
    const unneeded =
      /^src\/(study|shim|export|models|calibrate|conformance|service|topology\/(files|matrix|spec)|topology-communicator|neighborhood|world\/world\.)/
    expect(modules.filter((module) => unneeded.test(module))).toEqual([])
    expect([...loadedBy(chunk).packages].sort()).toEqual(['commander', 'zod'])
  })

  const apart = [
    'topology',
    'machine',
    'schedule',
    'models',
    'graphology',
    'fabric',
    'rendezvous',
    'client',
    'errors',
  ]
  it.each(apart)('has no communicator in what rankweave/%s loads', (name) => {
    const loaded = loadedBy(`entry/${name}.js`)
    expect(loadedBy('entry/index.js').packages).not.toContain('zod')
    const isCommunicators = (file: string) => /^var Communicator = class\b/m.test(textOf(`dist/${file}`))
    expect(loadedBy('entry/index.js').files.filter(isCommunicators)).toHaveLength(1)
    expect(loaded.files.filter(isCommunicators)).toEqual([])
    expect([...loaded.packages].sort()).toEqual(packagesOf[name] ?? [])
  })

  it('calls every class what its source calls it', () => {
    const modules = readdirSync(join(root, 'dist'), { recursive: true, encoding: 'utf8' })
      // In what pages load names are shortened, and restored when it runs.
      .filter((file) => file.endsWith('.js') && file !== join('entry', 'browser.js'))
    expect(modules.flatMap((file) => textOf(`dist/${file}`).match(/\bclass _\w+/g) ?? [])).toEqual([])
  })
})
