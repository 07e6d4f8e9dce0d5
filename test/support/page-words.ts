import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

// How many words readers meet, and how many at most: `npm run house` prints them, test/readme.test.ts compares.

const root = fileURLToPath(new URL('../../', import.meta.url))
const git = (...words: readonly string[]) => execFileSync('git', words, { cwd: root, encoding: 'utf8' })
const pagesIn = (folder: string) =>
  readdirSync(root + folder)
    .filter((name) => name.endsWith('.md'))
    .map((name) => `${folder}/${name}`)

const wordsOf = (text: string) => text.split(/\s+/).filter(Boolean).length
/** Without pages that a command writes, and without tables between marks. */
const writtenOf = (text: string) =>
  text.includes('\n<!-- Generated from ')
    ? 0
    : wordsOf(text.replace(/<!-- ([^>]*) -->[\s\S]*?<!-- end\b[^>]*-->/g, ''))
const textOf = (path: string) => readFileSync(root + path, 'utf8')
const sumOf = (paths: readonly string[], count = wordsOf) =>
  paths.reduce((sum, path) => sum + count(textOf(path)), 0)

/** The words of a page that people write. */
export const writtenWords = (path: string) => writtenOf(textOf(path))
/** The words of all pages of the repository. */
export const allWords = () =>
  sumOf(
    git('ls-files', '*.md')
      .split('\n')
      .filter((path) => path !== '' && existsSync(root + path)),
  )

const contributors = ['architecture', 'conformance', 'friend-grouping', 'neighborhood-strategies']
const ofContributors = new Set(
  [...contributors, 'plans-at-scale', 'split-algorithms', 'splits-at-scale'].map((name) => `docs/${name}.md`),
)
export const usersPages = pagesIn('docs').filter((path) => !ofContributors.has(path))
/** Users' pages that hold a format or all codes, and at most how many words each has. */
const longer: Readonly<Record<string, number>> = {
  'docs/errors.md': 3500,
  'docs/schedule-format.md': 3450,
  'docs/service-protocol.md': 1950,
  'docs/websocket-protocol.md': 1850,
}
export const mostWordsOf = (page: string) => longer[page] ?? 1500

/** What is counted, its pages, how many words they have together, and at most how many. */
export const budgets = [
  { what: 'README', pages: ['README.md'], most: 700 },
  { what: "users' pages, without generated tables", pages: usersPages, most: 45_000 },
  { what: 'decision records', pages: pagesIn('docs/decisions'), most: 20_000 },
  { what: 'CHANGELOG', pages: ['CHANGELOG.md'], most: 700 },
  { what: 'SECURITY', pages: ['SECURITY.md'], most: 900 },
  { what: 'architecture', pages: ['docs/architecture.md'], most: 1500 },
].map((budget) => ({
  ...budget,
  words: sumOf(budget.pages, budget.pages === usersPages ? writtenOf : wordsOf),
}))

/** Pages that have grown since the last commit of more than three days ago, the most first. */
export function whatGrew(paths: readonly string[]): string {
  const before = git('rev-list', '-1', '--before=3 days ago', 'HEAD').trim()
  const known = new Set(before === '' ? [] : git('ls-tree', '-r', '--name-only', before).split('\n'))
  return paths
    .map((path) => ({
      path,
      more: writtenWords(path) - (known.has(path) ? writtenOf(git('show', `${before}:${path}`)) : 0),
    }))
    .filter(({ more }) => more > 0)
    .sort((a, b) => b.more - a.more)
    .map(({ path, more }) => `${path} has ${more} words more`)
    .join('\n')
}
