import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { commands } from '../src/cli/commands/commands.js'
import { blocksOf, pageNames } from './support/page-blocks.js'
import { budgets, mostWordsOf, usersPages, whatGrew, writtenWords } from './support/page-words.js'

// What is cheap to check of the pages; `soak/readme.soak.ts` runs their commands.

const root = fileURLToPath(new URL('..', import.meta.url))

/** Whether a program has a default export, and is not only the beginning of it. */
const isWhole = (text: string) =>
  text.includes('export default') && (!/^export default .*\{$/m.test(text) || /^\}/m.test(text))

it('the programs of README and docs compile under strict settings', () => {
  const blocks = pageNames.flatMap(blocksOf)
  const programs = blocks.filter(({ language, text }) => language === 'ts' && isWhole(text))
  const folder = mkdtempSync(join(tmpdir(), 'rankweave-docs-types-'))
  try {
    for (const [i, { text }] of programs.entries()) writeFileSync(join(folder, `program-${i}.ts`), text)
    const compilerOptions = { noEmit: true, typeRoots: [join(root, 'node_modules/@types')] }
    const config = { extends: join(root, 'tsconfig.json'), compilerOptions, include: ['*.ts'] }
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config))
    writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
    const tsc = join(root, 'node_modules/@typescript/native/bin/tsc')
    expect(programs.length).toBeGreaterThan(10)
    expect(spawnSync(process.execPath, [tsc, '-p', folder], { encoding: 'utf8' }).stdout).toBe('')
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})

it('README and docs name commands that exist', () => {
  const named = pageNames.flatMap((page) =>
    Array.from(
      readFileSync(join(root, page), 'utf8').matchAll(/(?:`|npx |\$ |^)rankweave ([a-z][\w-]*)/gm),
      ([, name]) => ({ page, name }),
    ),
  )
  expect(named.length).toBeGreaterThan(50)
  expect(named.filter(({ page }) => page === 'README.md').length).toBeGreaterThan(4)
  // `rankweave data` is the first part of what a key of docs/websocket-protocol.md signs.
  const known = new Set([...commands.map(({ name }) => name), 'data'])
  expect(named.filter(({ name }) => !known.has(name))).toEqual([])
})

it('README has a program of at most 25 lines', () => {
  const programs = blocksOf('README.md').filter(({ language }) => language === 'ts')
  expect(programs).toHaveLength(1)
  expect(programs[0].text.trimEnd().split('\n').length).toBeLessThanOrEqual(25)
})

it.each(budgets)('the words of $what are at most $most', ({ pages, words, most }) => {
  expect(words, words > most ? whatGrew(pages) : '').toBeLessThanOrEqual(most)
})

it('no page for users is longer than its limit', () => {
  const long = usersPages.filter((page) => writtenWords(page) > mostWordsOf(page))
  expect(long, whatGrew(long)).toEqual([])
})

it.each([
  ['README.md', 'ts', 'examples/first.ts'],
  ['docs/tutorial.md', 'ts', 'examples/halo-exchange.ts'],
  ['docs/speed-up-your-mpi-program.md', 'c', 'examples/c/rewritten-halo.c'],
])('%s quotes its example in %s unchanged', (page, language, path) => {
  const example = readFileSync(join(root, path), 'utf8')
  const excerpts = blocksOf(page).filter((block) => block.language === language)
  expect(excerpts.length).toBeGreaterThan(0)
  for (const { text } of excerpts)
    for (const lines of language === 'c' ? text.split('\n\n') : [text]) expect(example).toContain(lines)
})
