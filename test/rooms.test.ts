import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { brokenRules, pageWithRooms, rooms } from '../scripts/rooms.js'
import '../src/entry/index.js'

const root = fileURLToPath(new URL('..', import.meta.url))
/** Without comments and blank lines. */
const mostLines = 500

/** Files below a folder of the repository, as paths from the root. */
function filesBelow(folder: string): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`
    return entry.isDirectory() ? filesBelow(path) : [path]
  })
}

const contents = (path: string) => readFileSync(join(root, path), 'utf8')
const sources = filesBelow('src').filter((path) => /\.(ts|mjs)$/.test(path))

/** Not as a path: what is planted here leads nowhere. */
const up = '../'

describe('the rule of rooms', () => {
  it('holds for src', () => {
    expect(brokenRules(new Map(sources.map((path) => [path, contents(path)])))).toEqual([])
  })

  it('is about every room that is listed, each once', () => {
    const names = rooms.map(({ name }) => name)
    expect([...names].sort()).toEqual([...new Set(sources.map((path) => path.split('/')[1]))].sort())
  })

  it.each([
    ['a room above', `import { split } from '${up}comm/split.js'`, 'from a room above'],
    ['a type of a room above', `import type { Split } from '${up}comm/split.js'`, 'from a room above'],
    ['what a room above exports', `export * from '${up}comm/split.js'`, 'from a room above'],
    ['a room above, late', `export const late = import('${up}comm/split.js')`, 'from a room above'],
    [
      'a type of a room above, inline',
      `export type S = import('${up}comm/split.js').Split`,
      'from a room above',
    ],
    ['a package that is not listed', "import { z } from 'zod'", 'the package zod'],
    ['the published library', "import { run } from 'rankweave'", 'the package rankweave'],
    ['a room that is not listed', `import { x } from '${up}nowhere/x.js'`, 'in no room'],
    ['what is not in src', `import { x } from '${up}${up}test/support/x.js'`, 'in no room'],
  ])('rejects an import of %s', (_, code, reason) => {
    expect(brokenRules(new Map([['src/messages/planted.ts', code]]))).toEqual([
      expect.stringContaining(reason),
    ])
  })

  it('rejects a file in no room', () => {
    expect(brokenRules(new Map([['src/nowhere/planted.ts', '']]))).toEqual([
      'src/nowhere/planted.ts is in no room',
    ])
  })

  it.each([
    ['of values', 'import { value }'],
    ['of types', 'import type { Kind }'],
  ])('rejects a ring of folders %s, the root of a room among them', (_, words) => {
    const planted = new Map([
      ['src/topology/a.ts', `${words} from './files/b.js'`],
      ['src/topology/files/b.ts', `${words} from '${up}friends/c.js'`],
      ['src/topology/friends/c.ts', `${words} from '${up}d.js'`],
      ['src/topology/e.ts', `${words} from './grouping/f.js'`],
    ])
    const broken = brokenRules(planted)
    expect(broken).toHaveLength(3)
    for (const line of broken) expect(line).toContain('a ring of folders')
  })

  it.each([
    ['a room below', `import { x } from '${up}base/x.js'`],
    ['a folder of its room', "import { x } from './process/x.js'"],
    ['a module of Node', "import { readFileSync } from 'node:fs'"],
  ])('permits an import of %s', (_, code) => {
    expect(brokenRules(new Map([['src/messages/planted.ts', code]]))).toEqual([])
  })

  it('stands in docs/architecture.md as npm run rooms writes it', () => {
    const page = contents('docs/architecture.md')
    expect(page).toBe(pageWithRooms(page))
  })
})

// The module reads every property of `process`, and whoever reads `stdin` makes descriptor 0 one that does
// not block.
it('no module imports node:process, which would open the standard input of programs that read it at once', () => {
  expect(sources.filter((path) => /from '(node:)?process'/.test(contents(path)))).toEqual([])
})

it(`no file of src has more than ${mostLines} lines of code`, () => {
  const lines = (path: string) =>
    contents(path)
      .replace(/\/\*[\s\S]*?\*\//g, '')
      .split('\n')
      .filter((line) => line.trim() !== '' && !line.trim().startsWith('//')).length
  expect(sources.filter((path) => lines(path) > mostLines)).toEqual([])
})

it('test/unit mirrors the folders of src, and has one for bench', () => {
  const tested = filesBelow('test/unit').map((path) => dirname(path).slice('test/unit'.length + 1))
  const folders = new Set([
    '',
    'bench',
    ...sources.flatMap((path) => withParents(dirname(path).slice('src/'.length))),
  ])
  expect([...new Set(tested)].filter((folder) => !folders.has(folder))).toEqual([])
})

function withParents(path: string): string[] {
  return path === '.' ? [] : [path, ...withParents(posix.dirname(path))]
}
