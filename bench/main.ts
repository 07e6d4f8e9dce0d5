// npm run bench -- NAME [--json] [--quick] [--runs N] [--only SUITE] [--sizes BYTES,..] [--seed N] [--sample N] [--before
// COMMIT] [--plot FILE]: one question in figures, one line each. bench/README.md has the options of `mutants`.
import { parseArgs } from 'node:util'
import { isRankweaveError } from '../src/errors.js'
import { adviseBench } from './advise.js'
import { type Bench, environment, type Figure } from './bench.js'
import { choiceBench } from './choice/choice.js'
import { collectivesBench } from './collectives.js'
import { exportedBench } from './exported.js'
import { groupingBench } from './grouping.js'
import { mappingBench } from './mapping/mapping.js'
import { matchingBench } from './matching/matching.js'
import { mpiBench } from './mpi.js'
import { mutantsBench } from './mutants/mutants.js'
import { neighborhoodBench } from './neighborhood/neighborhood.js'
import { onlineBench } from './online/online.js'
import { paperBench } from './paper/paper.js'
import { peersBench } from './peers/peers.js'
import { planBench } from './plan.js'
import { profileBench } from './profile/profile.js'
import { serviceBench } from './service/service.js'
import { shimBench } from './shim/shim.js'
import { simulateBench } from './simulate/simulate.js'
import { splitBench } from './split/split.js'
import { splitText } from './split/split-text.js'
import { measureSplitTable } from './split/table.js'
import { spmmBench } from './spmm.js'
import { threadsBench } from './threads.js'
import { tunedBench } from './tuning/tuned.js'
import { tuningBench } from './tuning/tuning.js'
import { verifyBench } from './verify.js'
import { websocketBench } from './websocket.js'
import { worldBench } from './world.js'

const benches: readonly Bench[] = [
  ...[worldBench, planBench, groupingBench, threadsBench, websocketBench, mpiBench, splitBench],
  ...[collectivesBench, verifyBench, simulateBench, neighborhoodBench, spmmBench, shimBench, serviceBench],
  exportedBench,
  mutantsBench,
  choiceBench,
  paperBench,
  tuningBench,
  mappingBench,
  matchingBench,
  tunedBench,
  onlineBench,
  profileBench,
  adviseBench,
  peersBench,
]

const { values, positionals } = parseWords()
if (values.table && positionals.join() === 'split') printTable()
const bench = benches.find(({ name }) => name === positionals[0])

if (bench === undefined || positionals.length !== 1) fail(`expected one NAME, got '${positionals.join(' ')}'`)

const where = environment()
console.error(`${bench.question}\n${where.commit}, Node ${where.node}, ${where.cpu}`)
let missed = 0
for await (const figure of bench.measure(values)) {
  if (figure.met === false) missed++
  console.log(values.json ? JSON.stringify({ bench: bench.name, ...figure, ...where }) : describe(figure))
}
process.exit(missed > 0 ? 1 : 0)

function parseWords() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        json: { type: 'boolean', default: false },
        quick: { type: 'boolean', default: false },
        only: { type: 'string' },
        sizes: { type: 'string' },
        seed: { type: 'string' },
        sample: { type: 'string' },
        before: { type: 'string' },
        suite: { type: 'string' },
        tests: { type: 'string' },
        out: { type: 'string' },
        compare: { type: 'string' },
        jobs: { type: 'string' },
        minutes: { type: 'string' },
        living: { type: 'string' },
        plot: { type: 'string' },
        table: { type: 'boolean', default: false },
        entries: { type: 'string' },
        sorters: { type: 'string' },
        runs: { type: 'string' },
        alpha: { type: 'string' },
      },
    })
  } catch (error) {
    return fail(error instanceof Error ? error.message : String(error))
  }
}

/** Table 2.1 of Sack 2011 as it is measured here, as Markdown or as one JSON object. */
function printTable(): never {
  const { json, table: _table, quick: _quick, only: _only, sizes: _sizes, ...words } = values
  try {
    const table = measureSplitTable(words, (line) => console.error(line))
    console.log(json ? JSON.stringify(table) : splitText(table))
  } catch (error) {
    if (!isRankweaveError(error)) throw error
    fail(error.message)
  }
  process.exit(0)
}

function fail(what: string): never {
  console.error(
    `usage: npm run bench -- NAME [--json] [--quick] [--runs N] [--only SUITE] [--sizes BYTES,..] [--seed N] [--sample N] [--before COMMIT] [--plot FILE]\n       npm run bench -- split --table [--entries MILLIONS,..] [--sorters COUNTS] [--runs N] [--alpha NS] [--plot FILE] [--json]\n${what}; NAME is one of`,
  )
  for (const { name, question } of benches) console.error(`  ${name.padEnd(8)} ${question}`)
  process.exit(2)
}

function describe({
  case: name,
  ours,
  unit,
  peer,
  ratio,
  target,
  met,
  targetOf,
  targetIs,
  failed,
  shown,
  low,
  high,
}: Figure): string {
  const number = (value: number | null) => (value === null ? 'none' : value.toPrecision(4))
  const interval =
    typeof low === 'number' && typeof high === 'number' ? ` (${low.toFixed(3)} to ${high.toFixed(3)})` : ''
  const theirs = peer === null ? '' : `  baseline ${number(peer)}, ratio ${number(ratio)}${interval}`
  const bound = [targetOf, targetIs].filter((word) => typeof word === 'string').join(' ')
  const goal =
    target === null ? '' : `  target ${bound === '' ? '' : `${bound} `}${target}: ${met ? 'met' : 'MISSED'}`
  const trouble = typeof failed === 'string' ? `  (${failed})` : ''
  const more = typeof shown === 'string' ? `\n    ${shown}` : ''
  return `${name.padEnd(64)} ${number(ours).padStart(9)} ${unit}${theirs}${goal}${trouble}${more}`
}
