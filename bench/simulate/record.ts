// npx tsx bench/simulate/record.ts FILE DATE: copies what `npm run bench -- simulate --json` printed into
// FILE to bench/results/simulate.json; tables of which FILE has no figures remain. `npm run bench:docs` then
// writes the page.
import { readFileSync, writeFileSync } from 'node:fs'
import type { Figure } from '../bench.js'
import type { ResultFigure, ResultTable, StoredResults } from '../results-file.js'

const [file, date] = process.argv.slice(2)
if (file === undefined || !/^\d{4}-\d{2}-\d{2}$/.test(date ?? '')) throw new Error('expected FILE YYYY-MM-DD')
const figures = readFileSync(file, 'utf8')
  .split('\n')
  .filter((line) => line.startsWith('{'))
  .map((line) => JSON.parse(line) as Figure & Record<string, string | number>)

const resultsFile = new URL('../results/simulate.json', import.meta.url)
const recorded = JSON.parse(readFileSync(resultsFile, 'utf8')) as StoredResults

const isPair = ({ unit }: Figure): boolean => unit === 'us simulated'
const isOf =
  (...suites: readonly string[]) =>
  (figure: Figure) =>
    isPair(figure) && suites.includes(String(figure['suite']))
const isSummary = (figure: Figure): boolean =>
  /^(clusters|torus and tapered Clos|blocks side by side and apart|farthest nodes first):/.test(figure.case)
const isAlongDimensions = (figure: Figure): boolean =>
  isOf('along dimensions')(figure) || figure.case.startsWith('along dimensions:')
const isSpeed = ({ unit }: Figure): boolean => unit === 'ms'
const isOnThreads = (figure: Figure): boolean => /on 2 threads|^predicted|^measured/.test(figure.case)
const isPrinted = (figure: Figure): boolean => figure['targetIs'] === 'to the printed digits'

const simgrid = ['SimGrid 3.32']
const results: StoredResults = {
  title: 'Simulation',
  command: 'npm run bench -- simulate --json',
  order: 4,
  tables: [
    table('Compared with SimGrid', isSummary, { ours: 'difference', software: simgrid }),
    table('Clusters of 16 cores per node', isOf('clusters'), {
      ours: 'simulate',
      baseline: 'SimGrid',
      software: simgrid,
      note: 'Simulated times; they do not depend on the computer.',
    }),
    table(
      'A torus, and a Clos network with four ports down for each port up',
      isOf('torus and tapered Clos'),
      {
        ours: 'simulate',
        baseline: 'SimGrid',
        software: simgrid,
        note: 'Simulated times; they do not depend on the computer.',
      },
    ),
    table(
      'Messages of blocks that lie side by side, and of others',
      isOf('blocks side by side and apart', 'farthest nodes first'),
      {
        ours: 'simulate',
        baseline: 'SimGrid',
        software: simgrid,
        note: 'Simulated times; they do not depend on the computer. The root of scatters is rank 5.',
      },
    ),
    table('Algorithms along the dimensions of a network', isAlongDimensions, {
      ours: 'simulate',
      baseline: 'SimGrid',
      software: simgrid,
      note: 'Simulated times; they do not depend on the computer.',
    }),
    table('Printed figures by formula and by routes', isPrinted, { ours: 'here', baseline: 'printed' }),
    table('How long a simulation takes: 4,096 ranks, 80 messages each', isSpeed, { ours: 'Rankweave' }),
    table('Predicted and measured on threads', isOnThreads, {
      ours: 'predicted',
      baseline: 'measured',
      note: 'Persistent neighbor allgathers of 64 ranks on 2 threads; the profile is from `rankweave calibrate --fabric threads` in the same run.',
    }),
  ],
}
writeFileSync(resultsFile, `${JSON.stringify(results, null, 2)}\n`)

function table(
  title: string,
  belongs: (figure: Figure) => boolean,
  {
    ours,
    baseline = '',
    software = [],
    note,
  }: {
    readonly ours: string
    readonly baseline?: string
    readonly software?: readonly string[]
    readonly note?: string
  },
): ResultTable {
  const rows = figures.filter(belongs)
  const [first] = rows
  if (first === undefined) {
    const stored = recorded.tables.find((one) => one.title === title)
    if (stored === undefined) throw new Error(`no figures of '${title}'`)
    return stored
  }
  return {
    ...{ title, ours, baseline },
    commit: String(first['commit']).slice(0, 7),
    date: date,
    machine: `${first['cpu']} (virtual)`,
    software: [String(first['node']).replace('v', 'Node '), ...software],
    runs: first.runs,
    source: 'the medians of the command, as it printed them',
    ...(note === undefined ? {} : { note }),
    figures: rows.map(resultOf),
  }
}

function resultOf(figure: Figure): ResultFigure {
  const { unit, ours, peer, target, runs } = figure
  if (ours === null) throw new Error(`${figure.case}: no figure`)
  const hasTarget = target !== null && !isPrinted(figure)
  return {
    case: figure.case,
    unit: isPair(figure) ? 'us' : unit,
    ours: Number(ours.toPrecision(4)),
    ...(peer === null ? {} : { peer: Number(peer.toPrecision(4)), ratio: figure.ratio! }),
    ...(hasTarget ? { target: { of: 'ours', is: 'at most', value: target } as const } : {}),
    runs,
  }
}
