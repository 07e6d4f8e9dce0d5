// npm run bench:docs: writes docs/benchmarks.md and, for contributors, tables with targets beside bench/results.
import { writeFileSync } from 'node:fs'
import { argv } from 'node:process'
import { fileURLToPath } from 'node:url'
import { benchmarksPage } from './benchmarks-page.js'
import { resultPages } from './result-tables.js'
import { readResults } from './results-file.js'

/** Writes all of them. */
export function writeBenchmarkPages(): void {
  const files = readResults()
  writeFileSync(new URL('../docs/benchmarks.md', import.meta.url), benchmarksPage(files))
  for (const [name, text] of resultPages(files))
    writeFileSync(new URL(`results/${name}`, import.meta.url), text)
}

if (argv[1] === fileURLToPath(import.meta.url)) writeBenchmarkPages()
