// Phrases that a native reader stumbles over, sentences that are too long, and comments that begin with a fragment: a list
// for whoever edits, not a gate. Words of paths as arguments select files: `npm run prose -- src/calls`.
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

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
const longPages = [...['getting-started'], ...['service-protocol', 'tutorial']].map(
  (name) => `docs/${name}.md`,
)

/** Sentences with more words, by their lines. Code in backquotes counts as one word; tables are left out. */
function longSentences(path: string, text: string): string[] {
  let isCode = false
  return text.split('\n').flatMap((line, index) => {
    if (line.trimStart().startsWith('```')) isCode = !isCode
    if (isCode || /^( {4}|[|#!]|<!--)/.test(line)) return []
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

/** Words that begin a fragment, and those that do so unless a comma ends their clause: `Where it is, ...`. */
const fragmentStart =
  /^(?:what|which|who|whom|whose|how|why|one|ones|those|of|the same|such|up to|or|and|but|than|else)\b/i
const clauseStart =
  /^(?:where|when|whenever|if|in|on|at|by|for|from|with|without|to|as|per|until|after|before|since|like|within|among|between|beside|through|only|not|also|both|even)\b/i

/** Comments whose first sentence has no actor, as far as its first words show. */
function fragments(path: string, text: string): string[] {
  const comments = text.matchAll(/\/\*\*?([\s\S]*?)\*\/|(?:^[ \t]*\/\/.*\n)+/gm)
  return [...comments].flatMap(({ 0: whole, 1: block, index }) => {
    const words = (block ?? whole)
      .replace(/^[ \t]*(?:\/\/|\*)/gm, '')
      .trim()
      .replace(/\s+/g, ' ')
    const sentence = words.split(/(?<=[.:;])\s/)[0]!
    const isFragment = fragmentStart.test(sentence) || (clauseStart.test(sentence) && !sentence.includes(','))
    return isFragment ? [`${path}:${text.slice(0, index).split('\n').length}: fragment: ${sentence}`] : []
  })
}

const isChecked = (path: string) => /^(docs\/[\w-]+|README)\.md$/.test(path) && !longPages.includes(path)

const wanted = process.argv.slice(2)
const isWanted = (path: string) => wanted.length === 0 || wanted.some((word) => path.includes(word))

const found = [...pages, ...sources].filter(isWanted).flatMap((path) => {
  const text = readFileSync(root + path, 'utf8')
  return [
    ...stumbles(path, text),
    ...(isChecked(path) ? longSentences(path, text) : []),
    ...(sources.includes(path) ? fragments(path, text) : []),
  ]
})
console.log(found.join('\n'))
