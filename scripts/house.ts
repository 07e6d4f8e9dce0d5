// What a new maintainer meets, in numbers: `npm run house [WORD...]` counts the files of `src` whose paths hold a word,
// their code, and the words of what they must read.
import { readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import { allWords, budgets } from '../test/support/page-words.js'
import { tableOf } from './marked-tables.js'

const root = fileURLToPath(new URL('..', import.meta.url))
const wanted = process.argv.slice(2)
/** A file with fewer lines of code is small. */
const smallLines = 40

const pathsIn = (folder: string, ending: string) =>
  readdirSync(root + folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith(ending))
    .map((path) => `${folder}/${path}`)

/** Lines that are neither blank nor only a comment. */
function codeLines(text: string): number {
  const lines = text.replace(/^[ \t]*\/\*[\s\S]*?\*\/[ \t]*$/gm, '').split('\n')
  return lines.filter((line) => line.trim() !== '' && !line.trim().startsWith('//')).length
}

/** The files that a file imports or exports from, as paths from the root. */
function importsOf(path: string, text: string): string[] {
  return [...text.matchAll(/\b(?:from|import)\s*\(?\s*'(\.[^']+)\.js'/g)].map(
    ([, name]) => `${posix.join(dirname(path), name!)}.ts`,
  )
}

const all = new Map(pathsIn('src', '.ts').map((path) => [path, readFileSync(root + path, 'utf8')] as const))
const users = new Map<string, Set<string>>()
for (const [path, text] of all)
  for (const imported of importsOf(path, text))
    users.set(imported, (users.get(imported) ?? new Set()).add(path))

const files = [...all]
  .filter(([path]) => wanted.length === 0 || wanted.some((word) => path.includes(word)))
  .map(([path, text]) => ({ path, lines: codeLines(text), users: [...(users.get(path) ?? [])] }))
  .sort((a, b) => a.lines - b.lines)
const linesOf = (some: readonly { readonly lines: number }[]) =>
  some.reduce((sum, { lines }) => sum + lines, 0)
const isBesideItsUser = ({ path, users }: (typeof files)[number]) =>
  users.length === 1 && dirname(users[0]!) === dirname(path) && basename(path) !== 'index.ts'
const cCode = ['.c', '.h']
  .flatMap((ending) => pathsIn('src', ending))
  .map((path) => readFileSync(root + path, 'utf8'))
const folders = new Map<string, number>()
for (const { path } of files) folders.set(dirname(path), (folders.get(dirname(path)) ?? 0) + 1)
const count = (value: number) => value.toLocaleString('en-US')

const rows: [string, string][] = [
  ['TypeScript files', count(files.length)],
  [
    'their lines of code, median of a file',
    `${count(linesOf(files))}, ${files[files.length >> 1]?.lines ?? 0}`,
  ],
  ['lines of C', count(cCode.reduce((sum, text) => sum + codeLines(text), 0))],
  [`files below ${smallLines} lines`, count(files.filter(({ lines }) => lines < smallLines).length)],
  [
    'those with one user, in the same folder',
    count(files.filter((each) => each.lines < smallLines && isBesideItsUser(each)).length),
  ],
  ['files of any length with one user, in the same folder', count(files.filter(isBesideItsUser).length)],
  [
    'code in files above 400 lines',
    `${Math.round((100 * linesOf(files.filter(({ lines }) => lines > 400))) / linesOf(files))}%`,
  ],
  [
    'folders with more than 30 files',
    [...folders]
      .filter(([, size]) => size > 30)
      .map(([name, size]) => `${name} ${size}`)
      .join(', ') || 'none',
  ],
  ...budgets.map(({ what, words, most }): [string, string] => [
    `words of ${what}`,
    `${count(words)} of at most ${count(most)}`,
  ]),
  ['words of all Markdown', count(allWords())],
]
console.log(tableOf(['what', 'now'], rows))
