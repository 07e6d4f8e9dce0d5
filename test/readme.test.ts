import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { onlyObject } from './unit/cli/run-cli.js'
import { spawnCli } from './unit/cli/spawn-cli.js'

/** README shows a program and what commands print: both must be true. Times differ, so they are not compared. */
const readme = readFileSync(fileURLToPath(new URL('../README.md', import.meta.url)), 'utf8')
const blocks = Array.from(readme.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm), ([, language, text]) => ({
  language,
  text,
}))

const withoutTimes = (text: string) => text.replace(/[\d.]+ m?s\b/g, 'TIME').trim()

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'rankweave-readme-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('README', () => {
  it('its program runs on 64 ranks', async () => {
    const program = blocks.find(({ language }) => language === 'ts')
    writeFileSync(join(folder, 'program.ts'), program!.text)
    const words = ['run', 'program.ts', '-n', '64', '--processes', '4', '--json']
    const answer = await spawnCli(words, { cwd: folder })
    expect(answer.exitCode).toBe(0)
    // Rank 9 of the 8 x 8 grid: row 8 to 15, sum 92; neighbors above, below, left, right.
    const { results } = onlyObject(answer) as { results: [number, number[], number][] }
    expect(results[9]).toEqual([92, [1, 17, 8, 10], 92])
  })

  it('npm start prints what it says', async () => {
    const shown = blocks.find(({ text }) => text.startsWith('C = A x B'))
    const { exitCode, stdout } = await spawnCli(['spmm', '-n', '64'], { cwd: folder })
    expect(exitCode).toBe(0)
    expect(withoutTimes(stdout)).toBe(withoutTimes(shown!.text))
  })

  it('its commands print what it says', async () => {
    const tour = blocks.find(({ text }) => text.startsWith('$ rankweave'))
    const steps = tour!.text.split(/^\$ rankweave /m).slice(1)
    expect(steps).toHaveLength(3)
    for (const step of steps) {
      const [line, ...expected] = step.split('\n')
      const { exitCode, stdout } = await spawnCli(line.split(' '), { cwd: folder })
      expect(exitCode, line).toBe(0)
      expect(withoutTimes(stdout), line).toBe(withoutTimes(expected.join('\n')))
    }
  })
})
