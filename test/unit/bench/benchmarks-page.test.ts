import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { benchmarkPages, tablesPage } from '../../../bench/benchmarks-page.js'
import { type ResultFigure, readResults } from '../../../bench/results-file.js'

const docs = new URL('../../../docs/', import.meta.url)
const pages = benchmarkPages(readResults())

describe('docs/benchmarks', () => {
  it.each([...pages])(
    '%s equals the page that npm run bench:docs generates from bench/results',
    (path, text) => {
      expect(readFileSync(new URL(path, docs), 'utf8')).toBe(text)
    },
  )

  it('has no other page', () => {
    const found = readdirSync(new URL('benchmarks/', docs)).map((name) => `benchmarks/${name}`)
    expect(['benchmarks.md', ...found].sort()).toEqual([...pages.keys()].sort())
  })

  it('has every recorded figure in a table', () => {
    for (const { name, tables } of readResults()) {
      const cells = tables.flatMap(({ figures }) => figures.map((figure) => `| ${figure.case} | `))
      for (const cell of cells) expect(pages.get(`benchmarks/${name}.md`)).toContain(cell)
    }
  })

  it('every table has a commit, a date, a machine, software, runs and a source', () => {
    for (const { tables, paperTable } of readResults()) {
      for (const table of [...tables, ...(paperTable === undefined ? [] : [paperTable])]) {
        expect(table).toMatchObject({
          commit: expect.stringMatching(/^[0-9a-f]{7,12}$/),
          date: expect.stringMatching(/^\d{4}-\d{2}-\d{2}$/),
          machine: expect.any(String),
          runs: expect.any(Number),
          source: expect.any(String),
        })
        expect(table.software.length).toBeGreaterThan(0)
      }
    }
  })
})

/** The row of one figure on its own page. */
function rowOf(figure: ResultFigure): string {
  const origin = {
    commit: '0000000',
    date: '2026-01-01',
    machine: 'm',
    software: ['s'],
    runs: 9,
    source: 't',
  }
  const table = { ...origin, title: 'T', ours: 'ours', baseline: 'C', figures: [figure] }
  const text = tablesPage({ name: 'f', title: 'F', command: 'c', order: 1, tables: [table] })
  return text.match(/^\| case .*$/m)![0]
}

describe('a row', () => {
  const base = { case: 'case', unit: 'us', ours: 20 }
  it.each<[ResultFigure, string]>([
    [base, '| case | 20 us |  | 9 |'],
    [{ ...base, peer: 10 }, '| case | 20 us | 10 us | 2.0x |  | 9 |'],
    [
      { ...base, peer: 10, ratio: 2.04, interval: [1.9, 2.16] },
      '| case | 20 us | 10 us | 2.0x (1.90 to 2.16) |  | 9 |',
    ],
    [{ ...base, peer: 30 }, '| case | 20 us | 30 us | 0.67x |  | 9 |'],
    [{ ...base, peer: 1000 }, '| case | 20 us | 1,000 us | 50 times faster |  | 9 |'],
    [{ ...base, unit: 'GB/s', peer: 1000 }, '| case | 20 GB/s | 1,000 GB/s | 0.02x |  | 9 |'],
    [
      { ...base, oursBest: 19, peer: 10, peerBest: 9, peerRuns: 3 },
      '| case | 20 us (19) | 10 us (9) | 2.0x |  | 9, baseline 3 |',
    ],
    [{ ...base, target: { of: 'ours', is: 'at most', value: 20 } }, '| case | 20 us | <= 20 us: met | 9 |'],
    [
      { ...base, peer: 10, target: { of: 'ratio', is: 'at most', value: 1.5 } },
      '| case | 20 us | 10 us | 2.0x | <= 1.5x: missed | 9 |',
    ],
    [
      { ...base, peer: 10, target: { of: 'ratio', is: 'at least', value: 1.5 } },
      '| case | 20 us | 10 us | 2.0x | >= 1.5x: met | 9 |',
    ],
    [
      { ...base, peer: 1000, target: { of: 'ratio', is: 'at most', value: 0.05 } },
      '| case | 20 us | 1,000 us | 50 times faster | 20 times faster: met | 9 |',
    ],
  ])('%j', (figure, expected) => {
    expect(rowOf(figure)).toBe(expected)
  })
})
