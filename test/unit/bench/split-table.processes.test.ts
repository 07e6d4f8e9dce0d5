import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { splitText } from '../../../bench/split/split-text.js'
import { measureSplitTable } from '../../../bench/split/table.js'

let folder: string
const at = (name: string) => join(folder, name)
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'rankweave-bench-'))
})
afterAll(() => {
  rmSync(folder, { recursive: true, force: true })
})

const small = { entries: '1', sorters: '2,16', runs: '1' }
const silent = () => {}

describe('npm run bench -- split --table', () => {
  it('measures every phase, draws a plot, and reports C++ where a compiler is found', () => {
    const table = measureSplitTable({ ...small, plot: at('split.svg') }, silent)
    const { rows, baselines, verdicts, peer } = table
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
    // No target applies to so few entries.
    expect(verdicts.map(({ met }) => met)).toEqual([null, null, null])
    expect(readFileSync(at('split.svg'), 'utf8')).toMatch(/^<svg .*<polyline .*<\/svg>\n$/s)
  })

  it('reports a missing compiler, and no figures for C++', () => {
    const before = process.env['CXX']
    process.env['CXX'] = at('no-such-compiler')
    try {
      const text = splitText(measureSplitTable(small, silent))
      expect(text).toMatch(/C\+\+: none: no compiler/)
      expect(text).toMatch(/\| none \| none \|/)
      expect(text).toMatch(/compared with conventional split in C\+\+: no baseline/)
    } finally {
      if (before === undefined) delete process.env['CXX']
      else process.env['CXX'] = before
    }
  })

  it.each([
    ['ERR_USAGE', { sorters: '3' }],
    ['ERR_USAGE', { sorters: '128' }],
    ['ERR_USAGE', { entries: '200' }],
    ['ERR_USAGE', { entries: '' }],
    ['ERR_USAGE', { entries: '8,x' }],
    ['ERR_USAGE', { runs: '0' }],
    ['ERR_USAGE', { alpha: '-1' }],
    ['ERR_FILE', { plot: 'absent/split.svg' }],
  ])('rejects bad words before measuring: %s for %j', (code, words) => {
    expect(() => measureSplitTable({ ...small, ...words }, silent)).toThrow(expect.objectContaining({ code }))
  })
})
