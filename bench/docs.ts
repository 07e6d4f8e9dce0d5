// npm run bench:docs: writes docs/benchmarks.md from bench/results.
import { writeFileSync } from 'node:fs'
import { benchmarksPage } from './benchmarks-page.js'
import { readResults } from './results-file.js'

writeFileSync(new URL('../docs/benchmarks.md', import.meta.url), benchmarksPage(readResults()))
