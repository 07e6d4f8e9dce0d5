import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

// Phrases that a native reader stumbles over, and what to write instead: in Markdown outside of code, and in
// the comments and messages of the library, its page and its examples.

const root = fileURLToPath(new URL('..', import.meta.url))

/** Files in a folder, at any depth. */
const filesIn = (folder: string) =>
  readdirSync(root + folder, { recursive: true, encoding: 'utf8' }).map((path) => `${folder}/${path}`)

/** What replaces a phrase, by its pattern. A blank stands for any white space. */
const advice: Readonly<Record<string, string>> = {
  whoever: 'name the process, rank, client or user',
  nobody: 'no rank, no process, no client',
  everybody: 'every rank, all members',
  '(?:some|any)body': 'a rank, a process, a client',
  'of its own(?= (?:and|in|for|to|that|with|would|where|or|from|at|is)\\b|[.,;:)]|$| \\|)':
    'its own, separate',
  '(?:goes|go) on(?! to\\b)': 'continue',
  '(?<!as often )as it is(?= [(,.]|[,.;]|$| in\\b)': 'unmodified, unchanged, directly',
  'in vain': 'unsuccessful',
  'com(?:es?|ing) about': 'is produced, happens',
  'that (?:is|are) none(?! of)': 'invalid, no such',
  'no more(?=[.,;:)])': 'no longer, nothing further',
  'any more': 'no longer',
  'that which': 'name it',
  'what may': 'name it',
  '(?:is|are) told': 'the service shows, the process learns',
  'for ever(?!y)': 'without end',
  'under way': 'in flight, in progress',
  'gives? way': 'yield',
  '\\d %': 'no blank before the percent sign',
}

const pages = [
  ...['README.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md'],
  ...filesIn('docs').filter((path) => path.endsWith('.md') && !path.startsWith('docs/reference/')),
]

const sources = ['src', 'web/src', 'examples'].flatMap(filesIn).filter((path) => /\.(ts|c|h|py)$/.test(path))

/** A line each: where, which phrase, and what to write instead. */
function stumbles(path: string, text: string): string[] {
  const isPage = path.endsWith('.md')
  let isCode = false
  return text.split('\n').flatMap((line, index) => {
    if (isPage && line.trimStart().startsWith('```')) isCode = !isCode
    if (isCode) return []
    const prose = isPage ? line.replace(/`[^`]*`/g, '``') : line
    // In code it is a remainder.
    const patterns = Object.entries(advice).filter(([pattern]) => isPage || pattern !== '\\d %')
    return patterns.flatMap(([pattern, instead]) => {
      const start = /^[\\(]/.test(pattern) ? '' : '\\b'
      const found = new RegExp(`${start}${pattern.replaceAll(' ', '\\s')}`, 'i').exec(prose)
      return found === null ? [] : [`${path}:${index + 1}: ${found[0]} -> ${instead}`]
    })
  })
}

/** Words in the longest sentence. */
const mostWords = 25

/** Pages whose sentences are still longer, or come from comments and data of a generator. */
const longPages = [
  ...['diagnosing-hangs', 'errors', 'getting-started'],
  ...['predicting-cost', 'service', 'service-protocol', 'sparse-products', 'study', 'tutorial', 'websocket'],
].map((name) => `docs/${name}.md`)

/** Sentences with more words, by their lines. Code in backquotes counts as one word; tables are left out. */
function longSentences(path: string, text: string): string[] {
  let isCode = false
  return text.split('\n').flatMap((line, index) => {
    if (line.trimStart().startsWith('```')) isCode = !isCode
    if (isCode || /^( {4}|[|#]|<!--)/.test(line)) return []
    const prose = line
      .replace(/^\s*(?:[-*>]|\d+\.)\s+/, '')
      .replace(/`[^`]*`/g, 'code')
      .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    return prose.split(/(?<=[.!?])\s+/).flatMap((sentence) => {
      const words = sentence.split(/\s+/).filter((word) => /\w/.test(word)).length
      return words > mostWords ? [`${path}:${index + 1}: ${words} words: ${sentence}`] : []
    })
  })
}

describe('the lint of sentences', () => {
  const word = 'word '
  it.each([
    ['a line', `${word.repeat(26)}.`],
    ['the second sentence of a line', `Short. ${word.repeat(26)}.`],
    ['an item of a list', `- ${word.repeat(26)}.`],
    ['a link', `[${word.repeat(25)}](page.md) more.`],
  ])('finds one that is too long in %s', (_, text) => {
    expect(longSentences('page.md', text)).toHaveLength(1)
  })

  it.each([
    ['two sentences', `${word.repeat(20)}. ${word.repeat(20)}.`],
    ['code', `Run \`${word.repeat(30)}\`.`],
    ['a block of code', `\`\`\`\n${word.repeat(30)}\n\`\`\``],
    ['a table', `| ${word.repeat(30)} |`],
  ])('finds none in %s', (_, text) => {
    expect(longSentences('page.md', text)).toEqual([])
  })
})

it('sentences of docs have at most 25 words', () => {
  const checked = pages.filter((path) => /^docs\/[\w-]+\.md$/.test(path) && !longPages.includes(path))
  expect(checked.length).toBeGreaterThan(25)
  expect(checked.flatMap((path) => longSentences(path, readFileSync(root + path, 'utf8')))).toEqual([])
})

describe('the lint of prose', () => {
  it.each([
    ...['Whoever asks', 'nobody waits', 'told to everybody', 'a process of its own.', 'a world goes on'],
    ...['ranks go on', 'use the table as it is.', 'was in vain', 'reads it any more', 'that which is sent'],
    ...['what may go', 'is told once', 'are told of it', 'waits for ever', 'bytes under way', '58.2 % fewer'],
    ...[
      'a thread gives way',
      'somebody waits',
      'what comes about',
      'a length that is none',
      'sends no more.',
    ],
  ])('finds the phrase in "%s"', (sentence) => {
    expect(stumbles('page.md', `Fine.\n${sentence}`)).toEqual([
      expect.stringMatching(/^page\.md:2: .+ -> .+/),
    ])
  })

  it.each([
    ...['each of its own ranks', 'is as often as it is listed', 'for every rank', 'as it is not a rank'],
    ...['`nobody` is a word', 'go on to the next page', '58.2% fewer', 'many more'],
    ...['an error that is none of ours', 'no more than ten'],
  ])('finds nothing in "%s"', (sentence) => {
    expect(stumbles('page.md', sentence)).toEqual([])
  })

  it('leaves out code', () => {
    expect(stumbles('page.md', '```ts\n// whoever\n```\nnobody')).toHaveLength(1)
  })
})

it('pages, comments and messages read as a native engineer writes', () => {
  expect(pages.length).toBeGreaterThan(80)
  expect(sources.length).toBeGreaterThan(900)
  expect([...pages, ...sources].flatMap((page) => stumbles(page, readFileSync(root + page, 'utf8')))).toEqual(
    [],
  )
})
