import { mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { numberText } from '../src/study/figure-text.js'
import type { Study } from '../src/study/study.js'
import { isSoak } from './support/soak.js'
import { onlyObject } from './unit/cli/run-cli.js'
import { spawnCli } from './unit/cli/spawn-cli.js'

// README and the pages of docs/ show programs and what commands print: all of it must be true.
//
// A block ```ts whose first line is `// name.ts` is a program; a block ```console has commands,
// `$ rankweave ...`, each followed by what it prints, standard output and standard error together. Times
// differ, so they are not compared.

const root = fileURLToPath(new URL('..', import.meta.url))

interface Block {
  readonly language: string
  readonly text: string
}

const blocksOf = (page: string): readonly Block[] =>
  Array.from(
    readFileSync(join(root, page), 'utf8').matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm),
    ([, language, text]) => ({
      language: language,
      text: text,
    }),
  )

/** Sentences outside of code and of tables; a link counts as its text. */
const proseOf = (page: string) =>
  readFileSync(join(root, page), 'utf8')
    .replace(/^```[\s\S]*?^```$/gm, '')
    .split('\n')
    .filter((line) => !/^(?:\||!|#|\[.* · )/.test(line))
    .flatMap((line) => line.replace(/\]\([^)]*\)/g, ']').split(/(?<=[.?])\s+/))
    .filter((sentence) => sentence !== '')

const withoutTimes = (text: string) =>
  text
    .replace(/[\d.]+ (?:m|u)?s\b/g, 'TIME')
    .replace(/[\d.e-]+ GFLOP\/s, \d+%/g, 'RATE')
    .replace(
      /^ {2}(?:faster than|slower than|no difference seen from) (.*?) {2,}.*times as fast.*$/gm,
      'VERDICT $1',
    )
    .replace(/^( {2}(?:neighbor allgather|direct sends|ordinary allgather)) +/gm, '$1 ')
    .trim()

const pages = ['README.md', ...readdirSync(join(root, 'docs')).map((name) => `docs/${name}`)].filter((page) =>
  page.endsWith('.md'),
)

const firstPages = ['README.md', 'docs/getting-started.md', 'docs/tutorial.md']

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'rankweave-readme-'))
  for (const name of ['examples', 'test']) symlinkSync(join(root, name), join(folder, name))
  for (const { language, text } of pages.flatMap(blocksOf)) {
    const name = language === 'ts' ? /^\/\/ ([\w-]+\.ts)\n/.exec(text)?.[1] : undefined
    if (name !== undefined) writeFileSync(join(folder, name), text)
  }
})
afterAll(() => {
  rmSync(folder, { recursive: true, force: true })
})

/** A command and the lines that follow it, of every ```console block of a page. */
const stepsOf = (page: string) =>
  blocksOf(page)
    .filter(({ language }) => language === 'console')
    .flatMap(({ text }) => text.split(/^\$ rankweave /m).slice(1))
    .map((step) => {
      const [line, ...expected] = step.split('\n')
      return { line: line, expected: expected.join('\n') }
    })

/** In `npm test` those that a new user reads first. */
const shownPages = pages.filter((page) => stepsOf(page).length > 0 && (isSoak || firstPages.includes(page)))

describe.each(shownPages)('commands of %s', (page) => {
  it.each(stepsOf(page))('rankweave $line prints what the page says', async ({ line, expected }) => {
    const { stdout, stderr } = await spawnCli(line.split(' '), { cwd: folder })
    // Commands report their progress on standard error; a page may leave that out.
    const whole = withoutTimes(`${stdout}${stderr}`)
    const shown = withoutTimes(expected)
    expect(shown.startsWith(withoutTimes(stdout)), `${whole}\n--- instead of ---\n${shown}`).toBe(true)
    expect(whole).toContain(shown)
  })
})

describe('README', () => {
  it('its program runs on 64 ranks', async () => {
    const program = blocksOf('README.md').find(({ language }) => language === 'ts')
    writeFileSync(join(folder, 'program.ts'), program!.text)
    const words = ['run', 'program.ts', '-n', '64', '--processes', '4', '--json']
    const answer = await spawnCli(words, { cwd: folder })
    expect(answer.exitCode).toBe(0)
    // Rank 9 of the 8 x 8 grid: row 8 to 15, sum 92; neighbors above, below, left, right.
    const { results } = onlyObject(answer) as { results: [number, number[], number][] }
    expect(results[9]).toEqual([92, [1, 17, 8, 10], 92])
  })

  it('npm start prints what it says', async () => {
    const shown = blocksOf('README.md').find(({ text }) => text.startsWith('C = A x B'))
    const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
      scripts: { start: string }
    }
    const words = /main\.js (.*)$/.exec(scripts.start)![1].split(' ')
    const { exitCode, stdout } = await spawnCli(words, { cwd: folder })
    expect(exitCode).toBe(0)
    expect(withoutTimes(stdout)).toBe(withoutTimes(shown!.text))
    expect(shown!.text).toMatch(/^ {2}faster than direct sends /m)
  })

  it('its sentences have at most 25 words', () => {
    const sentences = proseOf('README.md')
    expect(sentences.length).toBeGreaterThan(50)
    expect(sentences.filter((sentence) => sentence.split(/\s+/).length > 25)).toEqual([])
  })

  it('names commands that exist', async () => {
    const { stdout } = await spawnCli(['--help'])
    const known = new Set(Array.from(stdout.matchAll(/^ {2}([\w-]+) \[/gm), ([, name]) => name))
    const named = readFileSync(join(root, 'README.md'), 'utf8').matchAll(
      /(?:`|npx |\$ |^)rankweave ([\w-]+)/gm,
    )
    const names = Array.from(named, ([, name]) => name)
    expect(names.length).toBeGreaterThan(20)
    expect(names.filter((name) => !known.has(name))).toEqual([])
  })
})

describe('the first numbers of README', () => {
  const study = JSON.parse(readFileSync(join(root, 'docs/study/moore/study.json'), 'utf8')) as Study
  const { subject, strategies, fastest } = study
  const [opening] = readFileSync(join(root, 'README.md'), 'utf8').split('## Try it')
  const messagesBy = (name: string) => strategies.find(({ strategy }) => strategy === name)!.messages.all
  const us = (timeUs: number) => String(Number(timeUs.toPrecision(3)))
  const timesAt = (bytes: number) => {
    const { timeUs } = fastest.find((each) => each.bytes === bytes)!
    const direct = strategies[0].simulated.find((each) => each.bytes === bytes)!
    return `| ${us(direct.timeUs)} us | ${us(timeUs)} us | simulated |`
  }

  it('are those of the recorded study, and there are no others', () => {
    const combined = messagesBy('common-neighbor:k=4,mode=aware')
    const phrases = [
      `${subject.ranks.toLocaleString('en-US')} ranks on a grid, each with ${subject.degree.max} neighbors`,
      `| messages, friend groups of 4 | ${messagesBy('direct').toLocaleString('en-US')} | ${combined.toLocaleString('en-US')} | counted |`,
      `| time for blocks of 4 bytes ${timesAt(4)}`,
      `| time for blocks of 4 KiB ${timesAt(4096)}`,
    ]
    let rest = opening
    for (const phrase of phrases) {
      expect(rest).toContain(phrase)
      rest = rest.replace(phrase, '')
    }
    expect(rest.match(/\d[\d.,]*/)).toBeNull()
  })

  it('are those of a machine whose costs README says are assumed', () => {
    expect(subject.profile).toMatchObject({ name: 'niagara', provenance: 'assumed' })
    expect(opening).toContain('The costs of the profile niagara are assumed.')
  })

  it('are in the tables of the page beside it', () => {
    const page = readFileSync(join(root, 'docs/study/moore/README.md'), 'utf8')
    for (const { strategy, messages, simulated } of strategies) {
      expect(page).toContain(strategy)
      expect(page).toContain(numberText(messages.all))
      for (const { timeUs } of simulated) expect(page).toContain(numberText(timeUs))
    }
  })
})

describe('the tutorial', () => {
  const example = readFileSync(join(root, 'examples/halo-exchange.ts'), 'utf8')
  const excerpts = blocksOf('docs/tutorial.md').filter(({ language }) => language === 'ts')

  it.each(excerpts)('quotes the example as it is', ({ text }) => {
    expect(example).toContain(text)
  })
})
