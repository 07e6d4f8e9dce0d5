// npm run bench:docs: writes docs/benchmarks.md and, for contributors, tables with targets beside bench/results.
import { readFileSync, writeFileSync } from 'node:fs'
import { argv } from 'node:process'
import { fileURLToPath } from 'node:url'
import { pageWithTables } from '../scripts/marked-tables.js'
import { benchmarksPage } from './benchmarks-page.js'
import { readNeighborhood } from './neighborhood/record-neighborhood.js'
import { strategiesPage } from './neighborhood/strategies-page.js'
import { workerPoolsTables } from './peers/worker-pools-page.js'
import { readmeRatios } from './readme-ratios.js'
import { resultPages } from './result-tables.js'
import { readResults } from './results-file.js'

/** Writes all of them. */
export function writeBenchmarkPages(): void {
  const files = readResults()
  writeFileSync(new URL('../docs/benchmarks.md', import.meta.url), benchmarksPage(files))
  const tables = [
    ...Array.from(resultPages(files), ([name, text]) => [`results/${name}`, text] as const),
    ['neighborhood/strategies', strategiesPage(readNeighborhood())] as const,
  ]
  for (const [name, text] of tables) writeFileSync(new URL(`${name}.md`, import.meta.url), text)
  const marked = [readmeRatios(files), ...workerPoolsTables(files)]
  for (const page of new Set(marked.map((table) => table.page))) {
    const url = new URL(`../${page}`, import.meta.url)
    writeFileSync(url, pageWithTables(marked, page, readFileSync(url, 'utf8')))
  }
}

if (argv[1] === fileURLToPath(import.meta.url)) writeBenchmarkPages()
