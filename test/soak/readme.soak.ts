import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'
import { blocksOf, pageNames } from '../support/page-blocks.js'
import { onlyObject } from '../unit/cli/run-cli.js'
import { spawnCli } from '../unit/cli/spawn-cli.js'

// README and the pages of docs/ show programs and what commands print: all of it must be true.
//
// A block ```ts whose first line is `// name.ts` is a program; a block ```console has commands,
// `$ rankweave ...`, each followed by what it prints, standard output and standard error together. Times
// differ, so they are not compared.

const root = fileURLToPath(new URL('../..', import.meta.url))

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

/** A folder with the programs of all pages. */
const folder = mkdtempSync(join(tmpdir(), 'rankweave-readme-'))
for (const name of ['examples', 'test']) symlinkSync(join(root, name), join(folder, name))
for (const { language, text } of pageNames.flatMap(blocksOf)) {
  const name = language === 'ts' ? /^\/\/ ([\w-]+\.ts)\n/.exec(text)?.[1] : undefined
  if (name !== undefined) writeFileSync(join(folder, name), text)
}
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** A command and the lines that follow it, of every ```console block of a page. */
const stepsOf = (page: string) =>
  blocksOf(page)
    .filter(({ language }) => language === 'console')
    .flatMap(({ text }) => text.split(/^\$ rankweave /m).slice(1))
    .map((step) => {
      const [line, ...expected] = step.split('\n')
      return { line, expected: expected.join('\n') }
    })

describe.each(pageNames.filter((page) => stepsOf(page).length > 0))('commands of %s', (page) => {
  it.each(stepsOf(page))('rankweave $line prints what the page says', async ({ line, expected }) => {
    const { stdout, stderr } = await spawnCli(line.split(' '), { cwd: folder })
    // Commands report their progress on standard error; a page may leave that out.
    const whole = withoutTimes(`${stdout}${stderr}`)
    const shown = withoutTimes(expected)
    expect(shown.startsWith(withoutTimes(stdout)), `${whole}\n--- instead of ---\n${shown}`).toBe(true)
    expect(whole).toContain(shown)
  })
})

it('the program of README runs on 64 ranks', async () => {
  const program = blocksOf('README.md').find(({ language }) => language === 'ts')
  writeFileSync(join(folder, 'program.ts'), program!.text)
  const words = 'run program.ts -n 64 --processes 4 --json'.split(' ')
  // Rank 9 of the 8 x 8 grid: row 8 to 15, sum 92; neighbors above, below, left, right.
  const { results } = onlyObject(await spawnCli(words, { cwd: folder })) as { results: unknown[] }
  expect(results[9]).toEqual([92, [1, 17, 8, 10], 92])
})

it('npm start prints what README says', async () => {
  const shown = blocksOf('README.md').find(({ text }) => text.startsWith('C = A x B'))
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    scripts: { start: string }
  }
  const words = /main\.js (.*)$/.exec(scripts.start)![1].split(' ')
  const { exitCode, stdout } = await spawnCli(words, { cwd: folder })
  expect(exitCode).toBe(0)
  expect(withoutTimes(stdout)).toBe(withoutTimes(shown!.text))
})
