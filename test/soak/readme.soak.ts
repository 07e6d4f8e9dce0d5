import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'
import {
  folderOfPages,
  isShown,
  stepsOf,
  withoutMeasuredTimes,
} from '../../scripts/figures/console-blocks.js'
import { blocksOf, pageNames } from '../support/page-blocks.js'
import { onlyObject } from '../unit/cli/run-cli.js'
import { spawnCli } from '../unit/cli/spawn-cli.js'

// README and the pages of docs/ show programs and what commands print: all of it must be true, simulated times too. Times
// that are measured differ, so they are not compared.

const root = fileURLToPath(new URL('../..', import.meta.url))

const folder = folderOfPages()
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe.each(pageNames.filter((page) => stepsOf(page).length > 0))('commands of %s', (page) => {
  it.each(stepsOf(page))('rankweave $line prints what the page says (npm run figures)', async (step) => {
    const output = await spawnCli(step.line.split(' '), { cwd: folder })
    const { stdout, stderr } = output
    const instead = `${stdout}${stderr}\n--- instead of ---\n${step.expected}`
    expect(isShown(step, output), instead).toBe(true)
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
  expect(withoutMeasuredTimes(stdout)).toBe(withoutMeasuredTimes(shown!.text))
})
