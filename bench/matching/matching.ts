import type { Bench, BenchOptions, Figure } from '../bench.js'
import { BuiltPrograms } from '../build-programs.js'
import { type Case, figuresOf, type Suite } from '../comparison.js'
import { queueCase, queueLengths, queuePrograms } from './queue-programs.js'
import { queueTable } from './queue-table.js'
import { measureWorkloads } from './workloads.js'

/**
 * Time of a receive by the number of unexpected messages among which it finds its own: ours on threads and on both MPIs,
 * C on both MPIs. Suites are the microbenchmarks, `mb1` to `mb5`, and `workloads`: entries that searches of each design
 * pass on synthetic workloads.
 */
export const matchingBench: Bench = {
  name: 'matching',
  question: 'How long does a receive take among many unexpected messages?',
  measure: measureMatching,
}

const workloadsSuite = 'workloads'

type QueueProgramOf = (typeof queuePrograms)[number]

async function* measureMatching(options: BenchOptions = {}): AsyncGenerator<Figure> {
  const { only = '', quick = false } = options
  if (only === '' || workloadsSuite.startsWith(only)) yield* measureWorkloads(quick)
  if (only !== '' && workloadsSuite.startsWith(only)) return
  const built = new BuiltPrograms(['Open MPI', 'MPICH'])
  const figures: Figure[] = []
  try {
    for (const name of ['Open MPI', 'MPICH'] as const) console.error(built.versionOf(name).said)
    for await (const figure of figuresOf(
      queuePrograms.map((program) => suiteOf(built, program)),
      options,
    )) {
      figures.push(figure)
      yield { ...figure, ...growthOf(figure, figures) }
    }
  } finally {
    built.close()
  }
  console.error(queueTable(figures))
}

/** How many times as long a receive takes as among one message: our side's, and that of the baseline. */
function growthOf(
  figure: Figure,
  before: readonly Figure[],
): { growth: number | null; peerGrowth: number | null } {
  const one = before.find(
    ({ program, side, messages }) =>
      program === figure['program'] && side === figure['side'] && messages === 1,
  )
  const over = (value: number | null, first: number | null | undefined) =>
    value === null || first === null || first === undefined || first === 0 ? null : value / first
  return { growth: over(figure.ours, one?.ours), peerGrowth: over(figure.peer, one?.peer) }
}

const limitSeconds = 120
const inC = { 'C on Open MPI': 'Open MPI', 'C on MPICH': 'MPICH' } as const

function suiteOf(built: BuiltPrograms, { key: program, what, ranks }: QueueProgramOf): Suite {
  const world = { program: 'unexpected', ranks, processes: 2, args: { program, lengths: queueLengths } }
  const words = [program, ...queueLengths]
  const sides = ['threads', 'Open MPI', 'MPICH'] as const
  const of = (side: string, messages: number, baseline: string): Case => ({
    case: queueCase(what, messages, side),
    unit: 'us',
    ours: side,
    key: String(messages),
    baselines: [baseline],
    details: { program, side, messages },
  })
  return {
    name: program,
    implementations: [
      built.onThreads('threads', world, limitSeconds),
      built.onMpi('Open MPI', 'Open MPI', world, limitSeconds),
      built.onMpi('MPICH', 'MPICH', world, limitSeconds),
      ...Object.entries(inC).map(([name, mpi]) =>
        built.inC(name, mpi, 'unexpected', ranks, words, limitSeconds),
      ),
    ],
    cases: [
      ...sides.flatMap((side) => queueLengths.map((messages) => of(side, messages, 'C on Open MPI'))),
      ...queueLengths.map((messages) => of('C on MPICH', messages, 'C on Open MPI')),
    ],
    runs: 5,
  }
}
