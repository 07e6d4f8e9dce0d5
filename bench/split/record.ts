// npx tsx bench/split/record.ts FILE DATE: copies whole splits, as `npm run bench -- split --json` printed
// them into FILE, to bench/results/split.json; `npm run bench:docs` then writes the page.
import { readFileSync, writeFileSync } from 'node:fs'
import type { Figure } from '../bench.js'
import { phaseNames } from '../programs/split-phases.js'
import type { SplitResults, SplitRow, StoredResults } from '../results-file.js'

const [file, date] = process.argv.slice(2)
if (file === undefined || !/^\d{4}-\d{2}-\d{2}$/.test(date ?? '')) throw new Error('expected FILE YYYY-MM-DD')
const lines = readFileSync(file, 'utf8')
  .split('\n')
  .filter((line) => line.startsWith('{'))
const figures = lines.map((line) => JSON.parse(line) as Figure & Record<string, string | number>)
const results = new URL('../results/split.json', import.meta.url)
const before = JSON.parse(readFileSync(results, 'utf8')) as StoredResults
const { tables, ...head } = before

const phases = resultsOf('phases', 'Medians of alternating splits.', ['Open MPI 4.1.4', 'MPICH 4.0.2'])
const replication = resultsOf(
  'figure2.2',
  'Medians of alternating splits; the largest world is split once per algorithm.',
  [],
)
const after = { ...head, ...(phases && { phases }), ...(replication && { replication }), tables }
writeFileSync(results, `${JSON.stringify(after, null, 2)}\n`)

/** Undefined if nothing of that suite was measured. */
function resultsOf(suite: string, note: string, more: readonly string[]): SplitResults | undefined {
  const of = figures.filter(
    (each) => String(each['suite']).startsWith(suite) && each['variant'] !== undefined,
  )
  const [first] = of
  if (first === undefined) return undefined
  const commit = String(first['commit']).slice(0, 7)
  const cpu = String(first['cpu'])
  return {
    commit,
    date: date,
    machine: `${cpu} (virtual)`,
    software: [String(first['node']).replace('v', 'Node '), ...more],
    runs: first.runs,
    source: 'the samples of the command, as it printed them',
    note,
    rows: of.map(rowOf),
  }
}

function rowOf(figure: Figure & Record<string, string | number>): SplitRow {
  const number = (name: string) => Number(figure[name])
  return {
    ranks: number('worldRanks'),
    processes: number('processes'),
    fabric: String(figure['fabric']),
    variant: String(figure['variant']),
    runs: figure.runs,
    phases: Object.fromEntries(phaseNames.map((name) => [name, number(name)])),
    sum: number('sum'),
    whole: number('whole'),
    messages: number('messages'),
    peak: number('peak'),
    retained: number('retained'),
    ...(typeof figure.peer === 'number' ? { peer: Number(figure.peer.toPrecision(4)) } : {}),
  }
}
