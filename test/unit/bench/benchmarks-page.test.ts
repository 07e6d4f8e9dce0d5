import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { benchmarksPage } from '../../../bench/benchmarks-page.js'
import { workerPoolsTables } from '../../../bench/peers/worker-pools-page.js'
import { readmeRatios } from '../../../bench/readme-ratios.js'
import { resultPages } from '../../../bench/result-tables.js'
import { readResults } from '../../../bench/results-file.js'
import { pageWithTables } from '../../../scripts/marked-tables.js'

const files = readResults()
const page = readFileSync(new URL('../../../docs/benchmarks.md', import.meta.url), 'utf8')

describe('docs/benchmarks.md', () => {
  it('equals the page that npm run bench:docs generates from bench/results', () => {
    expect(benchmarksPage(files)).toBe(page)
  })

  it('has at most 1,600 words, cells of tables included, and no targets', () => {
    expect(page.split(/\s+/).length).toBeLessThanOrEqual(1600)
    expect(page).not.toMatch(/\btarget|: met|: missed/)
  })
})

it.each(['README.md', 'docs/worker-pools.md'])('%s compares as npm run bench:docs writes it', (name) => {
  const text = readFileSync(new URL(`../../../${name}`, import.meta.url), 'utf8')
  expect(pageWithTables([readmeRatios(files), ...workerPoolsTables(files)], name, text)).toBe(text)
})

describe('tables of bench/results', () => {
  it('have a section for every table, and a row in the summary of targets', () => {
    const tables = resultPages(files)
    for (const { name, tables: recorded } of files)
      for (const { title } of recorded) {
        expect(tables.get(name)).toContain(`\n## ${title}\n`)
        expect(tables.get('targets')).toContain(`[${title}](${name}.md#`)
      }
  })

  it('every table has a commit, a date, a machine, software, runs and a source', () => {
    for (const { tables, paperTable } of files) {
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
