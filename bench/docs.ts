// npm run bench:docs: writes docs/benchmarks.md and the pages in docs/benchmarks from bench/results.
import { mkdirSync, writeFileSync } from 'node:fs'
import { argv } from 'node:process'
import { fileURLToPath } from 'node:url'
import { benchmarkPages } from './benchmarks-page.js'
import { readResults } from './results-file.js'

/** Writes all of them. */
export function writeBenchmarkPages(): void {
  const docs = new URL('../docs/', import.meta.url)
  mkdirSync(new URL('benchmarks/', docs), { recursive: true })
  for (const [path, text] of benchmarkPages(readResults())) writeFileSync(new URL(path, docs), text)
}

if (argv[1] === fileURLToPath(import.meta.url)) writeBenchmarkPages()
