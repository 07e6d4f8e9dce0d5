import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { entries } from '../../support/entries.js'

const root = fileURLToPath(new URL('../../../', import.meta.url))
const textOf = (path: string) => readFileSync(root + path, 'utf8')
const importOf = (entry: string) => (entry === 'index' ? 'rankweave' : `rankweave/${entry}`)

/** Most values, counted once for each entry that has them. */
const limit = 160

/** A section of a page, by the import path in its heading. */
interface Section {
  readonly page: string
  /** What the last column of its table names. */
  readonly names: readonly string[]
}

/** The sections `What ... exports` of a page. */
function sectionsOf(page: string, text: string): (readonly [path: string, section: Section])[] {
  return text.split(/^## /m).flatMap((section) => {
    const path = /^What `(rankweave[^`]*)` exports\n/.exec(section)?.[1]
    if (path === undefined) return []
    const cells = Array.from(section.matchAll(/^\|.*\| (.*) \|$/gm), ([, cell]) => cell)
    return [[path, { page, names: cells.flatMap((cell) => cell.match(/(?<=`)\w+(?=`)/g) ?? []) }]]
  })
}

const sections = readdirSync(`${root}docs`)
  .filter((name) => name.endsWith('.md'))
  .flatMap((name) => sectionsOf(name, textOf(`docs/${name}`)))

const exported = Object.entries(entries).map(
  ([entry, values]) => [importOf(entry), Object.keys(values).sort()] as const,
)

/** The anchor of a heading, as code hosts make it. */
const anchorOf = (path: string) => `what-${path.replace('/', '')}-exports`

describe('what users import', () => {
  it('is every file of src/entry and every path of the package', () => {
    const files = readdirSync(`${root}src/entry`).map((name) => name.replace('.ts', ''))
    expect(Object.keys(entries).sort()).toEqual(files.sort())
    const manifest = JSON.parse(textOf('package.json')) as { readonly exports: object }
    const paths = Object.keys(manifest.exports).filter((path) => path !== './package.json')
    expect(exported.map(([path]) => path).sort()).toEqual(
      paths.map((path) => path.replace('.', 'rankweave')).sort(),
    )
  })

  it(`is at most ${limit} values`, () => {
    const counts = exported.map(([path, names]) => `${path}: ${names.length}`)
    const total = exported.reduce((sum, [, names]) => sum + names.length, 0)
    expect(total, counts.join(', ')).toBeLessThanOrEqual(limit)
  })

  it.each(exported)('%s: one section of a page lists every value, once, and no other', (path, names) => {
    const own = sections.filter(([of]) => of === path)
    expect(own.map(([, { page }]) => page)).toHaveLength(1)
    expect([...own[0]![1].names].sort()).toEqual(names)
  })

  it('has no section for another path', () => {
    expect(sections.map(([path]) => path).sort()).toEqual(exported.map(([path]) => path).sort())
  })

  it.each(sections)('%s: docs/README.md links its section', (path, { page }) => {
    expect(textOf('docs/README.md')).toContain(`[\`${path}\`](${page}#${anchorOf(path)})`)
  })
})

it('a section ends at the next heading, and only the last column counts', () => {
  const page = [
    ...['# Page', '## What `rankweave/a` exports', '`no`', '| to | call |', '|---|---|'],
    ...['| use `no` | `one`, `two` |', '| more | `three` |', '## Next', '| a | `no` |'],
  ]
  expect(sectionsOf('a.md', page.join('\n'))).toEqual([
    ['rankweave/a', { page: 'a.md', names: ['one', 'two', 'three'] }],
  ])
})
