import { type Headline, headlines } from './headline-ratios.js'
import { markdown } from './markdown-table.js'
import { titlesOfPools } from './peers/worker-pools-page.js'
import { measured, ratioText, spreadOf, spreadRatios } from './result-texts.js'
import type { ResultFigure, ResultFile, ResultTable } from './results-file.js'

const opening = (files: readonly ResultFile[]) => `# Benchmarks

<!-- Generated from bench/results by \`npm run bench:docs\`. -->

Each section compares Rankweave with what its reader would use instead, on the same machine of two cores (${machinesText(files)}).
The first is for TypeScript programmers, the next three for MPI programmers.
A ratio is ours / baseline: for times below 1x is faster, for bandwidths and rates above 1x.
At 1/303x, ours takes a 303rd of the time.
`

const closing = `## Method

- Ours and the baselines take turns.
- A run checks its results and warms up; its figure is the median of batches of operations.
- The baselines are C and C++, compiled with \`-O3\`.
- Open MPI runs with \`--mca pml ob1 --mca btl self,vader\`. For long messages the better of one copy and two counts. MPICH runs with \`-launcher fork\`. Two processes are bound to cores; more are oversubscribed, and Open MPI's then yield.
- \`C packed by hand\` is a neighbor allgather for two processes: one message, then a copy per slot.

In a checkout, \`npm run bench -- NAME\` repeats a measurement (\`bench/README.md\` lists them).
The baselines need \`libopenmpi-dev openmpi-bin libmpich-dev mpich\` and a C++ compiler.
`

/** docs/benchmarks.md. */
export function benchmarksPage(files: readonly ResultFile[]): string {
  return [
    opening(files),
    ...headlines.filter(isRecorded(files)).map((one) => headlineSection(one, files)),
    spreads(files),
    closing,
  ].join('\n')
}

const isRecorded =
  (files: readonly ResultFile[]) =>
  ({ rows }: Headline) =>
    rows.every(([wanted]) => files.some(({ name }) => name === wanted))

/** The processors and versions of Node of all tables; each table has its own in bench/results. */
function machinesText(files: readonly ResultFile[]): string {
  const tables = files.flatMap((file) => file.tables)
  const processors = tables.map(({ machine }) =>
    machine.replaceAll(/2 x |\(R\)| Processor| \(virtual\)/g, ''),
  )
  const nodes = tables.flatMap(({ software }) => software.filter((each) => each.startsWith('Node ')))
  return [processors, nodes].map((names) => [...new Set(names)].sort().join(' or ')).join('; ')
}

/** A table of figures and ratios: one row per case, wherever its figure is recorded. */
function headlineSection({ title, text, rows }: Headline, files: readonly ResultFile[]): string {
  const lines = rows.map(([name, heading, wanted, what, baseline]) => {
    const { table, figure } = findFigure(files, name, heading, wanted)
    const peer = figure.peer === undefined ? '' : `${shown(figure.peer, figure.unit)}, `
    return [what, shown(figure.ours, figure.unit), `${peer}${baseline ?? table.baseline}`, ratioText(figure)]
  })
  return `## ${title}\n\n${text}\n\n${originText(rows, files)}\n\n${markdown(['what', 'Rankweave', 'compared with', 'ratio'], lines)}\n`
}

/** The commands of the figures of a section, and when they ran. */
function originText(rows: Headline['rows'], files: readonly ResultFile[]): string {
  const dates = new Map<string, Set<string>>()
  for (const [name, heading, wanted] of rows) {
    const { date } = findFigure(files, name, heading, wanted).table
    dates.set(name, (dates.get(name) ?? new Set()).add(date))
  }
  const runs = [...dates].map(
    ([name, days]) => `by \`npm run bench -- ${name}\` on ${[...days].join(' and ')}`,
  )
  return `Recorded ${runs.join(' and ')}.`
}

function findFigure(files: readonly ResultFile[], name: string, heading: string, wanted: string) {
  const table = files.find((each) => each.name === name)?.tables.find((each) => each.title === heading)
  const figure = table?.figures.find((each) => each.case === wanted)
  if (table === undefined || figure === undefined)
    throw new Error(`${name} has no '${wanted}' in '${heading}'`)
  return { table, figure } satisfies { table: ResultTable; figure: ResultFigure }
}

/** A figure of three digits; times of 1,000 units are in the next larger one. */
function shown(value: number, unit: string): string {
  const larger = { us: 'ms', ms: 's' }[unit]
  if (larger !== undefined && value >= 1000) return shown(value / 1000, larger)
  return measured(Number(value.toPrecision(3)), undefined, unit)
}

/** Of a table whose ratios are summarized. */
const fewestCases = 6

/**
 * A row for every table with a baseline: how its ratios are spread. docs/simulation.md has those of the simulator,
 * docs/worker-pools.md those of pools.
 */
function spreads(allFiles: readonly ResultFile[]): string {
  const files = allFiles.filter(({ name }) => name !== 'simulate')
  const lines = files.flatMap(({ title, tables }) =>
    tables.flatMap((table) => {
      const ratios = spreadRatios(table.figures)
      if (ratios.length < fewestCases || titlesOfPools.includes(table.title)) return []
      const [cases, least, median, greatest] = spreadOf(ratios)
      const fastest = Math.min(...ratios)
      const from = fastest < 0.2 ? `1/${Math.round(1 / fastest)}x` : least
      return [[`${title}: ${table.title}`, cases!, median!, `${from}..${greatest}`]]
    }),
  )
  const heads = ['table', 'cases', 'median', 'least..greatest']
  const dates = files.flatMap(({ tables }) => tables.map(({ date }) => date)).sort()
  return `## All comparisons\n\nRatios of tables with at least ${fewestCases} cases, of times where a table has times, from ${dates[0]} to ${dates.at(-1)}; \`bench/results\` of the repository has the machine, commit and runs of each.\n\n${markdown(heads, lines)}\n`
}
