import { spawnSync } from 'node:child_process'
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, extname, join, posix, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { lintRules, type Room, rooms } from '../scripts/rooms.js'

const root = fileURLToPath(new URL('..', import.meta.url))
const mostFiles = 15
const mostLines = 350

const isFile = ({ path }: Pick<Room, 'path'>) => extname(path) !== ''

/** Files below a folder of the repository, as paths from the root. */
function filesBelow(folder: string): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`
    return entry.isDirectory() ? filesBelow(path) : [path]
  })
}

const sources = filesBelow('src').filter((path) => /\.(ts|mjs)$/.test(path))
const roomOf = (path: string) => (dirname(path) === 'src' ? path : dirname(path)).slice('src/'.length)

// The module reads every property of `process`, and whoever reads `stdin` makes descriptor 0 one that does
// not block.
it('no module imports node:process, which would open the standard input of programs that read it at once', () => {
  const importing = sources.filter((path) =>
    /from '(node:)?process'/.test(readFileSync(join(root, path), 'utf8')),
  )
  expect(importing).toEqual([])
})

describe('the table of rooms', () => {
  it('has every folder of src and every file directly in it, and nothing else', () => {
    expect(rooms.map(({ path }) => path).sort()).toEqual([...new Set(sources.map(roomOf))].sort())
  })

  it('is in order: a room imports only rooms that stand before it', () => {
    const before = new Set<string>()
    for (const { path, imports } of rooms) {
      expect(
        imports.filter((other) => !before.has(other)),
        path,
      ).toEqual([])
      before.add(path)
    }
  })

  it('keeps messages and collective calls apart, and concrete fabrics out of comm', () => {
    for (const { path, imports } of rooms) {
      const within = (folder: string) => imports.filter((other) => `${other}/`.startsWith(folder))
      if (path.startsWith('comm/p2p')) expect(within('comm/calls/')).toEqual([])
      if (path.startsWith('comm/calls')) expect(within('comm/p2p/')).toEqual([])
      if (path.startsWith('comm')) {
        expect(within('fabric/').filter((other) => other !== 'fabric')).toEqual([])
        expect(within('neighborhood/')).toEqual([])
      }
    }
  })

  it(`has a reason for every room of more than ${mostFiles} files`, () => {
    const count = (path: string) => sources.filter((file) => roomOf(file) === path).length
    const large = rooms.filter(({ path }) => count(path) > mostFiles)
    expect(large.filter(({ many }) => many === undefined)).toEqual([])
  })
})

it(`no file of src has more than ${mostLines} lines`, () => {
  const lines = (path: string) => readFileSync(join(root, path), 'utf8').split('\n').length - 1
  expect(sources.filter((path) => lines(path) > mostLines)).toEqual([])
})

it('test/unit mirrors the folders of src, and has one for bench', () => {
  const tested = filesBelow('test/unit').map((path) => dirname(path).slice('test/unit'.length + 1))
  const folders = new Set(['', 'bench', ...rooms.flatMap(({ path }) => withParents(path))])
  expect([...new Set(tested)].filter((folder) => !folders.has(folder))).toEqual([])
})

it('test/README.md says where every call of a communicator is tested', () => {
  const page = readFileSync(join(root, 'test/README.md'), 'utf8')
  const classes = sources.filter((path) => /^src\/(comm|neighborhood)\/[\w-]*communicator\.ts$/.test(path))
  const calls = classes.flatMap((path) =>
    Array.from(
      readFileSync(join(root, path), 'utf8').matchAll(/^ {2}([a-z]\w*)(?:<[^(]*>)?\(/gm),
      ([, name]) => name ?? '',
    ),
  )
  const internal = ['constructor', 'mailbox', 'seat', 'seatToFree', 'markFreed']
  expect(calls).toContain('allreduce')
  expect(calls.filter((name) => !internal.includes(name) && !page.includes(`\`${name}\``))).toEqual([])
  const files = Array.from(page.matchAll(/`([\w/.-]+\.test\.ts)`/g), ([, file]) => file ?? '')
  expect(files.filter((file) => !sourcesOfTests.has(`test/${file}`))).toEqual([])
})

const sourcesOfTests = new Set(filesBelow('test'))

function withParents(path: string): string[] {
  return path === '.' ? [] : [path, ...withParents(posix.dirname(path))]
}

describe('the linter', () => {
  it('reads the rules that scripts/rooms.ts writes (npm run rooms)', () => {
    expect(readFileSync(join(root, 'biome.rooms.json'), 'utf8')).toBe(lintRules())
    expect(JSON.parse(readFileSync(join(root, 'biome.json'), 'utf8'))).toMatchObject({
      extends: ['./biome.rooms.json'],
    })
  })

  it('rejects every import that the table does not list, in every form, and no other', () => {
    const planted = new Map(rooms.map((room) => [plantIn(room), plants(room)]))
    const files = [...planted].map(([path, lines]) => [path, lines.map(({ code }) => code)] as const)
    const rejected = lint(new Map(files), 'style/noRestrictedImports')
    const expected = [...planted].flatMap(([path, lines]) =>
      lines.flatMap(({ isAllowed }, i) => (isAllowed ? [] : `${path}:${i + 1}`)),
    )
    expect(expected.length).toBeGreaterThan(5000)
    expect(rejected.sort()).toEqual(expected.sort())
  })

  it('rejects cycles, of types too', () => {
    const files = new Map([
      ['src/base/values.ts', ["import { b } from './other-values.js'", 'export const a = () => b']],
      ['src/base/other-values.ts', ["import { a } from './values.js'", 'export const b = () => a']],
      ['src/topology/kind.ts', ["import type { B } from './other-kind.js'", 'export type A = B[]']],
      ['src/topology/other-kind.ts', ["import type { C } from './third-kind.js'", 'export type B = C[]']],
      ['src/topology/third-kind.ts', ["import type { A } from './kind.js'", 'export type C = A | null']],
      ['src/text/fine.ts', ["import { a } from '../base/values.js'", 'export const c = () => a']],
    ])
    const expected = [...files.keys()]
      .filter((path) => path !== 'src/text/fine.ts')
      .map((path) => `${path}:1`)
    expect(lint(files).sort()).toEqual(expected.sort())
  })
})

const plantIn = (room: Room) => (isFile(room) ? `src/${room.path}` : `src/${room.path}/planted.ts`)

interface Planted {
  readonly code: string
  readonly isAllowed: boolean
}

/** Imports of everything from one room, in all forms. */
function plants(room: Room): Planted[] {
  const others = rooms.filter(({ path }) => path !== room.path)
  const packages = ['commander', 'graphology', 'highs', 'koffi', 'tsx/esm/api', 'zod']
  const targets = [
    ...others.map((other) => ({
      text: importText(room, isFile(other) ? `src/${other.path}` : `src/${other.path}/some-file.ts`),
      isAllowed: room.imports.includes(other.path),
    })),
    ...packages.map((name) => ({
      text: name,
      isAllowed: (room.packages ?? []).includes(name.split('/')[0] ?? ''),
    })),
    ...['node:fs', 'node:fs/promises'].map((text) => ({ text, isAllowed: true })),
    { text: './sibling.js', isAllowed: !isFile(room) },
    ...['rankweave', 'rankweave/topology'].map((text) => ({ text, isAllowed: false })),
    ...['test/support/some-file.ts', 'src/new-room/some-file.ts', 'src/index.ts'].map((path) => ({
      text: importText(room, path),
      isAllowed: false,
    })),
  ]
  return targets.flatMap(({ text, isAllowed }) =>
    [
      `import { value } from '${text}'`,
      `import type { Kind } from '${text}'`,
      `export * from '${text}'`,
      `export const late = import('${text}')`,
    ].map((code) => ({ code, isAllowed })),
  )
}

function importText(from: Room, path: string): string {
  const text = relative(dirname(plantIn(from)), path).replace(/\.ts$/, '.js')
  return text.startsWith('.') ? text : `./${text}`
}

/**
 * Lints files in a folder of their own with this repository's rules; answers with `path:line` of what it
 * rejects.
 */
function lint(files: ReadonlyMap<string, readonly string[]>, only?: string): string[] {
  const folder = mkdtempSync(join(tmpdir(), 'rankweave-rooms-'))
  try {
    for (const name of ['biome.json', 'biome.rooms.json', '.gitignore']) {
      copyFileSync(join(root, name), join(folder, name))
    }
    for (const [path, lines] of files) {
      mkdirSync(join(folder, dirname(path)), { recursive: true })
      writeFileSync(join(folder, path), `${lines.join('\n')}\n`)
    }
    const biome = createRequire(import.meta.url).resolve('@biomejs/biome/bin/biome')
    const options = ['--reporter=github', '--max-diagnostics=none', '--diagnostic-level=error']
    const { status, stdout } = spawnSync(
      process.execPath,
      [biome, 'lint', ...options, ...(only === undefined ? [] : [`--only=${only}`]), '.'],
      { cwd: folder, encoding: 'utf8', maxBuffer: 2 ** 26 },
    )
    expect(status).toBe(1)
    return Array.from(
      stdout.matchAll(/ title=lint\/\w+\/no(?:RestrictedImports|ImportCycles),file=([^,]+),line=(\d+),/g),
      ([, file, line]) => `${file?.slice(file.indexOf('src/'))}:${line}`,
    )
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
