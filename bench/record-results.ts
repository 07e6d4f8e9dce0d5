// npm run bench:record -- NAME.. [--only SUITE,..] [--from FILE]: runs these benches, or takes the lines that
// `bench -- NAME --json` printed, and writes their results and docs/benchmarks.md.
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { writeBenchmarkPages } from './docs.js'
import { recordNeighborhood } from './neighborhood/record-neighborhood.js'
import { imageOf, recorded, recordedNames } from './recorded-lines.js'
import type { StoredResults } from './results-file.js'

const root = fileURLToPath(new URL('..', import.meta.url))
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { from: { type: 'string' }, only: { type: 'string' } },
})
const names = [...recordedNames, 'neighborhood']
const unknown = positionals.find((name) => !names.includes(name))
if (positionals.length === 0 || unknown !== undefined) {
  console.error(`expected names among ${names.join(', ')}, got '${unknown ?? ''}'`)
  process.exit(2)
}
const given = values.from === undefined ? undefined : readFileSync(values.from, 'utf8')
for (const name of positionals) {
  const lines = (given ?? measured(name)).split('\n').filter((line) => line.startsWith('{'))
  const date = new Date().toISOString().slice(0, 10)
  if (name === 'neighborhood') {
    recordNeighborhood(lines, date)
    continue
  }
  const path = `${root}bench/results/${name}.json`
  const before = existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as StoredResults) : undefined
  const file = recorded(name, lines, date, before)
  writeFileSync(path, `${JSON.stringify(file, null, 2)}\n`)
}
writeBenchmarkPages()

/** What the bench prints; it ends with 1 where a target is missed. */
function measured(name: string): string {
  const image = name === 'neighborhood' ? undefined : imageOf(name)
  const words = [
    ...['--import', 'tsx', `${root}bench/main.ts`, name, '--json'],
    ...(values.only === undefined ? [] : ['--only', values.only]),
    ...(image === undefined ? [] : ['--plot', `${root}docs/${image}`]),
  ]
  const { stdout, status } = spawnSync(process.execPath, words, {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  if (status !== 0 && status !== 1) throw new Error(`${name} ended with ${status}`)
  return stdout
}
