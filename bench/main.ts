// npm run bench -- NAME [--json] [--quick] [--only SUITE] [--sizes BYTES,..] [--plot FILE]: one question in figures, one line each.
import { parseArgs } from 'node:util'
import type { Bench, Figure } from './bench.js'
import { environment } from './bench.js'
import { groupingBench } from './matching.js'
import { mpiBench } from './mpi.js'
import { planBench } from './plan.js'
import { splitBench } from './split.js'
import { threadsBench } from './threads.js'
import { worldBench } from './world.js'

const benches: readonly Bench[] = [worldBench, planBench, groupingBench, threadsBench, mpiBench, splitBench]

const { values, positionals } = parseWords()
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
        plot: { type: 'string' },
      },
    })
  } catch (error) {
    return fail(error instanceof Error ? error.message : String(error))
  }
}

function fail(what: string): never {
  console.error(
    `usage: npm run bench -- NAME [--json] [--quick] [--only SUITE] [--sizes BYTES,..] [--plot FILE]: ${what}. NAME is one of`,
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
}: Figure): string {
  const number = (value: number | null) => (value === null ? 'none' : value.toPrecision(4))
  const theirs = peer === null ? '' : `  peer ${number(peer)}, ratio ${number(ratio)}`
  const bound = [targetOf, targetIs].filter((word) => typeof word === 'string').join(' ')
  const goal =
    target === null ? '' : `  target ${bound === '' ? '' : `${bound} `}${target}: ${met ? 'met' : 'MISSED'}`
  const trouble = typeof failed === 'string' ? `  (${failed})` : ''
  return `${name.padEnd(64)} ${number(ours).padStart(9)} ${unit}${theirs}${goal}${trouble}`
}
