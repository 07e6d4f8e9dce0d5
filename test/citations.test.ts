import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

// Comments and pages cite decisions, records, pages and sections. Whatever is cited must be in the
// repository.

const root = fileURLToPath(new URL('..', import.meta.url))
const tracked = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
  cwd: root,
  encoding: 'utf8',
})
  .split('\n')
  .filter((path) => path !== '' && existsSync(join(root, path)))
const textOf = (path: string) => readFileSync(join(root, path), 'utf8')

const pages = new Map(tracked.filter((path) => path.endsWith('.md')).map((path) => [path, textOf(path)]))
const sources = tracked.filter((path) =>
  /^(src|test|bench|examples|scripts)\/.*\.(ts|mjs|c|h|cpp)$/.test(path),
)

/** A heading's anchor, as code hosts make it. */
const slug = (heading: string) =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replace(/\s/g, '-')

const withoutCode = (text: string) => text.replace(/^```[\s\S]*?^```$/gm, '').replace(/^ {4}.*$/gm, '')

const anchors = new Map(
  Array.from(pages, ([path, text]) => [
    path,
    new Set(Array.from(withoutCode(text).matchAll(/^#+ (.*)$/gm), ([, heading]) => slug(heading))),
  ]),
)

const resolves = (path: string, anchor: string | undefined) =>
  existsSync(join(root, path)) && (anchor === undefined || (anchors.get(path)?.has(anchor) ?? false))

const records = new Set(
  Array.from(pages.keys(), (path) => /^docs\/decisions\/(\d{4})-/.exec(path)?.[1]).filter(
    (number) => number !== undefined,
  ),
)
const decisions = new Set(
  Array.from(pages.get('docs/architecture.md')!.matchAll(/^### Decision (\d+): /gm), ([, number]) => number),
)

/** Decisions and records that a text names and that do not exist. */
function missingDecisions(text: string): string[] {
  const cited = [
    ...text.matchAll(/\bdecisions? (\d{1,2})\b/gi),
    ...text.matchAll(/\b(?:decisions?|records?) (\d{4})\b/gi),
    ...text.matchAll(/docs\/decisions\/(\d{4})/g),
    ...text.matchAll(/\((\d{4})(?:, \d{4})*\)/g),
  ]
  return cited
    .map(([, number]) => number)
    .filter((number) =>
      number.length < 4 ? !decisions.has(number) : number < '1000' && !records.has(number),
    )
}

/** Pages, with or without a section, that a source names and that do not exist. */
const missingPages = (text: string) =>
  Array.from(text.matchAll(/\b((?:[\w-]+\/)*[\w-]+\.md)\b(?:#([\w-]+))?/g))
    .filter(([, path, anchor]) => !resolves(path, anchor))
    .map(([citation]) => citation)

/** Sections without the work they are sections of: a standard with its version, or an author with a year. */
const missingWorks = (text: string) =>
  Array.from(text.matchAll(/§/g), ({ index }) => text.slice(Math.max(0, index - 120), index))
    .filter((before) => !/MPI-\d\.\d|[A-Z][a-z]+ (?:19|20)\d\d/.test(before))
    .map((before) => `${before.slice(-40)}§`)

/** Files and folders in backquotes. What is generated, and names with a pattern, are not looked up. */
const missingFiles = (text: string) =>
  Array.from(text.matchAll(/`((?:src|test|bench|examples|scripts|docs)\/[\w./-]*)`/g), ([, path]) => path)
    .filter((path) => !/^docs\/(reference|decisions\/\d{4}$)/.test(path))
    .filter((path) => !existsSync(join(root, path)))

/** Sources in TypeScript that comments in C name. */
const missingSources = (text: string) =>
  Array.from(text.matchAll(/\bsrc\/[\w/.-]+\.ts\b/g), ([path]) => path).filter(
    (path) => !existsSync(join(root, path)),
  )

/** Links of a page to files and sections. */
const missingLinks = (text: string, path: string) =>
  Array.from(text.matchAll(/\]\(([^)\s]+)\)/g), ([, target]) => target)
    .filter((target) => !/^[a-z]+:/.test(target))
    .filter((target) => {
      const [file, anchor] = target.split('#') as [string, string?]
      const resolved = file === '' ? path : normalize(join(dirname(path), file))
      return resolved.startsWith('..') || !resolves(resolved.replace(/\/$/, ''), anchor)
    })

const prose = Array.from(pages, ([path, text]) => [path, withoutCode(text)] as const)
const code = sources.map((path) => [path, textOf(path)] as const)
const ofLibrary = code.filter(([path]) => /^(src|bench)\//.test(path))
const inC = code.filter(([path]) => /\.[ch]$/.test(path))
const ofOthers = code.filter(([path]) => path !== 'test/citations.test.ts')

it.each<[string, readonly (readonly [string, string])[], (text: string, path: string) => readonly string[]]>([
  ['sources cite decisions and records that exist', code, missingDecisions],
  ['sources name pages and sections that exist', ofLibrary, missingPages],
  ['sources in C name files that exist', inC, missingSources],
  ['sources name the work that a section is of', ofOthers, missingWorks],
  ['pages cite decisions and records that exist', prose, missingDecisions],
  ['pages name files that exist', prose, missingFiles],
  ['pages link to files and sections that exist', prose, missingLinks],
])('%s', (_, texts, missing) => {
  expect(texts.length).toBeGreaterThan(100)
  expect(texts.flatMap(([path, text]) => missing(text, path).map((cited) => `${path}: ${cited}`))).toEqual([])
})

describe('the tracks and the reference of docs/README.md', () => {
  const index = pages.get('docs/README.md')!
  /** Pages that follow each other, by the sections of numbered lists. */
  const tracks = index
    .split(/^## /m)
    .map((section) => Array.from(section.matchAll(/^\d+\. \[([^\]]+)\]\(([\w-]+\.md)\)/gm)))
    .filter((steps) => steps.length > 0)
    .map((steps) => steps.map(([, title, page]) => ({ title, page })))
  const steps = tracks.flatMap((track) => track.map((one, i) => [one, track[i + 1]] as const))
  const nextOf = (page: string) => pages.get(`docs/${page}`)!.match(/^Next: .*$/gm) ?? []
  const others = Array.from(pages.keys(), (path) => /^docs\/([\w-]+\.md)$/.exec(path)?.[1]).filter(
    (page) => page !== undefined && page !== 'README.md',
  )

  it('has three tracks of about four pages, and at most 500 words', () => {
    expect(tracks).toHaveLength(3)
    for (const { length } of tracks) expect(Math.abs(length - 4)).toBeLessThan(2)
    expect(index.split(/\s+/).length).toBeLessThanOrEqual(500)
  })

  it.each(steps)(
    '$0.page has the title by which it is listed, and names the next page',
    ({ title, page }, next) => {
      expect(pages.get(`docs/${page}`)).toMatch(new RegExp(`^# ${title}\\b`))
      expect(nextOf(page)).toEqual(next === undefined ? [] : [`Next: [${next.title}](${next.page}).`])
    },
  )

  it('has no next page for a page of reference', () => {
    const read = new Set(steps.map(([{ page }]) => page))
    expect(others.filter((page) => !read.has(page!) && nextOf(page!).length > 0)).toEqual([])
  })

  it('lists every page once, by its title', () => {
    const entries = Array.from(index.matchAll(/\[([^\]]+)\]\(([\w-]+\.md)\)/g))
    expect(entries.map(([, , page]) => page).sort()).toEqual(others.sort())
    const misnamed = entries.filter(([, title, page]) => !pages.get(`docs/${page}`)!.startsWith(`# ${title}`))
    expect(misnamed.map(([link]) => link)).toEqual([])
  })
})
