import { spawnSync } from 'node:child_process'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { run } from 'rankweave'
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
  const resultsOf = async (processes: string) => {
    const words = `run program.ts -n 64 ${processes} --json`.split(' ')
    return (onlyObject(await spawnCli(words, { cwd: folder })) as { results: { pi: number }[] }).results
  }
  const results = await resultsOf('--fabric threads --processes 2')
  const { pi } = results[0]
  expect(pi).toBeCloseTo(Math.PI, 10)
  let own = Array.from({ length: 64 }, (_, rank) => rank)
  for (let step = 0; step < 100; step++)
    own = own.map((value, rank) => (2 * value + own.at(rank - 1)! + own[(rank + 1) % 64]) / 4)
  expect(results).toEqual(own.map((value) => ({ pi, own: value })))
  expect(await resultsOf('--processes 4')).toEqual(results)
})

it('the histogram of docs/shared-memory.md counts in one memory', async () => {
  const program = pathToFileURL(join(folder, 'histogram.ts'))
  for (const fabric of ['local', 'threads'] as const) {
    const args = new Int32Array(new SharedArrayBuffer(4 * 10))
    expect(await run(program, { ranks: 2, processes: 2, fabric, args })).toEqual([100, 100])
    expect([...args]).toEqual([100, 200, 0, 0, 200, 100, 200, 0, 0, 200])
  }
})

it('npm start runs a parallel loop and a planned exchange, and ends each as README says', async () => {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    scripts: { start: string }
  }
  const [, program, words] = /^npm run -s build && tsx (\S+) && node dist\/cli\/main\.js (.*)$/.exec(
    scripts.start,
  )!
  const tsx = join(root, 'node_modules/tsx/dist/cli.mjs')
  const loop = spawnSync(process.execPath, [tsx, join(root, program)], { encoding: 'utf8' })
  expect(loop.stderr).toBe('')
  expect(loop.status).toBe(0)
  expect(loop.stdout).toContain('  check       passed, all points equal\n')
  const product = await spawnCli(words.split(' '), { cwd: folder })
  expect(product.exitCode).toBe(0)
  expect(product.stdout).toContain('  check      passed, max relative error 0\n')
  expect(readFileSync(join(folder, 'spmm.svg'), 'utf8')).toMatch(/than direct sends|from direct sends/)
  const lastLineOf = (text: string) => text.trim().split('\n').at(-1)!
  expect(lastLineOf(loop.stdout)).toMatch(
    /^In this run (\d+ ranks were [\d.]+ times as fast as the plain loop|no difference in time was seen between \d+ ranks and the plain loop) \(95% interval [\d.]+ to [\d.]+\)\.$/,
  )
  const shown = blocksOf('README.md').find(({ text }) => text.startsWith('In this run '))
  expect(withoutMeasuredTimes(lastLineOf(product.stdout))).toBe(withoutMeasuredTimes(shown!.text))
  // The page on products shows all that the second prints.
  expect(stepsOf('docs/sparse-products.md').map(({ line }) => line)).toContain(words)
})
