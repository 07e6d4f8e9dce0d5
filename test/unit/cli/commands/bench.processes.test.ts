import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { SplitTable } from '../../../../src/cli/bench/split-table.js'
import { cli, onlyObject } from '../run-cli.js'

let folder: string
const at = (name: string) => join(folder, name)
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'rankweave-bench-'))
})
afterAll(() => {
  rmSync(folder, { recursive: true, force: true })
})

const small = ['bench', 'split', '--entries', '1', '--sorters', '2,16', '--runs', '1']

describe('bench split', () => {
  it('measures every phase, draws a plot, and says what C++ takes where there is a compiler', async () => {
    const answer = await cli(...small, '--plot', at('split.svg'), '--json')
    expect(answer.exitCode).toBe(0)
    const { rows, baselines, verdicts, peer } = onlyObject(answer) as unknown as SplitTable
    expect(rows.map(({ entries, sorters }) => [entries, sorters])).toEqual([
      [2 ** 20, 16],
      [2 ** 20, 2],
    ])
    for (const { collect, splitters, exchange, merge, total, rounds } of rows) {
      for (const phase of [collect, splitters, exchange, merge]) expect(phase).toBeGreaterThan(0)
      expect(total).toBeCloseTo(collect + splitters + exchange + merge, 9)
      expect(rounds).toBeLessThanOrEqual(Math.log(2 ** 20) / Math.log(4 / 3) + 1)
    }
    const [{ cppConventional, cppMerging }] = baselines
    if (peer.startsWith('none')) expect([cppConventional, cppMerging]).toEqual([null, null])
    else for (const theirs of [cppConventional, cppMerging]) expect(theirs).toBeGreaterThan(0)
    // Nothing is promised of so few entries.
    expect(verdicts.map(({ met }) => met)).toEqual([null, null, null])
    expect(readFileSync(at('split.svg'), 'utf8')).toMatch(/^<svg .*<polyline .*<\/svg>\n$/s)
  })

  it('without a compiler says so, and makes nothing up', async () => {
    const before = process.env['CXX']
    process.env['CXX'] = at('no-such-compiler')
    try {
      const { exitCode, stdout } = await cli(...small)
      expect(exitCode).toBe(0)
      expect(stdout).toMatch(/C\+\+: none: no compiler/)
      expect(stdout).toMatch(/\| none \| none \|/)
      expect(stdout).toMatch(/against conventional split in C\+\+: no peer/)
    } finally {
      if (before === undefined) delete process.env['CXX']
      else process.env['CXX'] = before
    }
  })
})
