import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { benchmarkPages } from '../../../bench/benchmarks-page.js'
import { readResults } from '../../../bench/results-file.js'

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
