import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { hostsOfCommand, placementOf, placesText } from '../src/advise/placement.js'
import { compileProfiler, readProfile, readSeconds } from '../src/profile/profile.js'
import type { Bench, BenchOptions, Figure } from './bench.js'
import { figuresOf } from './comparison.js'
import { bytesText } from './message-plans.js'
import { findMpi } from './mpi-library.js'
import { runWithTimeout } from './run-with-timeout.js'

const root = fileURLToPath(new URL('..', import.meta.url))
const fourNodes = `${root}bench/four-nodes.sh`
const limitSeconds = 300

const processes = 32
/** The grid that the program makes of its processes; both ends of a dimension are neighbors. */
const grid = [4, 4, 2]
/** Bytes of a face. */
const sizes = [2 ** 10, 2 ** 14, 2 ** 16]
/** The steps by which the bench finds how many a run of {@link runSeconds} has; the first ones connect processes. */
const fewSteps = 200
const runSeconds = 3

/**
 * A halo by `MPI_Isend` and `MPI_Irecv` on four nodes of this machine, started so that no two neighbors share a node:
 * runs in the order that `advise` plans beside runs in this one, and what `advise` says of both.
 */
export const adviseBench: Bench = {
  name: 'advise',
  question: 'Does advise make an unmodified program faster, and see where nothing helps?',
  async *measure(options: BenchOptions = {}): AsyncGenerator<Figure> {
    const mpi = findMpi('Open MPI')
    if ('missing' in mpi) throw new Error(mpi.missing)
    const folder = mkdtempSync(join(tmpdir(), 'rankweave-bench-advise-'))
    const remove = () => rmSync(folder, { recursive: true, force: true })
    // A signal ends the bench without what follows below.
    process.on('exit', remove)
    try {
      execFileSync(mpi.mpicc, ['-O2', '-o', join(folder, 'messages'), `${root}examples/c/messages.c`])
      writeFileSync(join(folder, givenOrder), apartRankfile())
      const halo: Halo = { folder, mpicc: mpi.mpicc, profiler: compileProfiler(folder, mpi.mpicc) }
      const only = options.sizes?.split(',').map(Number) ?? sizes
      for (const bytes of sizes.filter((size) => only.includes(size)))
        yield* measureSize(halo, bytes, options)
    } finally {
      process.off('exit', remove)
      remove()
    }
  },
}

interface Halo {
  readonly folder: string
  readonly mpicc: string
  /** The library that writes the time of a run. */
  readonly profiler: string
}

const givenOrder = 'given.ranks'
const foundOrder = 'found.ranks'

async function* measureSize(halo: Halo, bytes: number, options: BenchOptions): AsyncGenerator<Figure> {
  const where = `halo by MPI_Isend, ${bytesText(bytes)} a face, ${processes} processes on four nodes`
  const wordsOf = (steps: number) => ['./messages', 'isend', bytes, steps].map(String)
  const short = await secondsOf(halo, givenOrder, wordsOf(fewSteps))
  const steps = Math.max(fewSteps, Math.round((fewSteps * runSeconds) / short))
  const words = wordsOf(steps)
  await writeFoundOrder(halo, words)
  let runs = 0
  const pair = async () => {
    const seconds: Record<string, number> = {}
    const orders = [givenOrder, foundOrder]
    for (const order of runs++ % 2 === 0 ? orders : orders.reverse())
      seconds[order] = await secondsOf(halo, order, words)
    return seconds
  }
  const figures = figuresOf(
    [
      {
        name: `halo-${bytes}`,
        runs: 11,
        implementations: [{ name: 'pair', how: `${mpirun} ${words.join(' ')}`, run: pair }],
        cases: [
          {
            case: `${where}, placed as advise plans`,
            ...{ unit: 's', ours: 'pair', key: foundOrder, baselines: ['pair'], baselineKey: givenOrder },
            isPaired: true,
            details: { bytes, steps, processes },
          },
        ],
      },
    ],
    options,
  )
  yield* figures
  yield await verdictsOf(`${where}, as given: right verdicts of advise`, 1, async () => {
    const { advised } = await adviceOf(halo, givenOrder, words)
    return advised.includes('placement')
  })
  yield await verdictsOf(
    `${where}, as planned: right verdicts of advise`,
    options.quick ? 1 : 3,
    async () => {
      const { advised, verdict } = await adviceOf(halo, foundOrder, words)
      return advised.length === 0 && verdict.startsWith('Noth')
    },
  )
}

/** Counts the runs of `advise` whose verdict is right. */
async function verdictsOf(name: string, runs: number, isRight: () => Promise<boolean>): Promise<Figure> {
  let right = 0
  for (let run = 0; run < runs; run++) if (await isRight()) right++
  return {
    ...{ case: name, unit: `of ${runs} runs`, ours: right, peer: null, ratio: null },
    ...{ target: runs, targetIs: 'at least', met: right === runs, runs },
  }
}

const mpirun = '$FOUR_NODES_MPIRUN'

interface Advice {
  readonly advised: readonly string[]
  readonly verdict: string
}

async function adviceOf(halo: Halo, order: string, program: readonly string[]): Promise<Advice> {
  const advise = [
    ...[
      process.execPath,
      '--import',
      import.meta.resolve('tsx'),
      `${root}src/cli/main.ts`,
      'advise',
      '--json',
    ],
    ...['--minutes', '1.8', '--mpicc', halo.mpicc, '--'],
  ]
  const advice = JSON.parse(await besideNodes(halo, advise, ['--rankfile', order, ...program])) as Advice
  console.error(`${program.join(' ')}, ${order}: ${advice.verdict}`)
  return advice
}

/** Profiles a run, and writes the placement that `advise` plans for its traffic. */
async function writeFoundOrder(halo: Halo, program: readonly string[]): Promise<void> {
  const file = join(halo.folder, 'profile.jsonl')
  await besideNodes(halo, [], preloading(halo, `profile:${file}`, givenOrder, program))
  const profile = readProfile(readFileSync(file, 'utf8'), file)
  const command = ['mpirun', '--rankfile', givenOrder]
  const plan = placementOf(profile, 'Open MPI', command)
  if (typeof plan === 'string') throw new Error(plan)
  const today = profile.processes.map(({ node }) => node)
  const hosts = hostsOfCommand(command, () => apartRankfile(), today)!
  const places = { launcher: 'Open MPI' as const, nodeOf: plan.nodeOf, hosts, cores: availableParallelism() }
  writeFileSync(join(halo.folder, foundOrder), placesText(places))
}

const preloading = ({ profiler }: Halo, mode: string, order: string, program: readonly string[]) => [
  ...['--rankfile', order, '-x', `LD_PRELOAD=${profiler}`, '-x', `RANKWEAVE_PROFILE=${mode}`],
  ...program,
]

/** Returns the seconds of a run of the program from the end of MPI_Init to the begin of MPI_Finalize. */
async function secondsOf(halo: Halo, order: string, program: readonly string[]): Promise<number> {
  const file = join(halo.folder, 'time.json')
  await besideNodes(halo, [], preloading(halo, `time:${file}`, order, program))
  return readSeconds(readFileSync(file, 'utf8'), file)
}

/** Runs words, the launcher of four nodes, and further words in the folder of the program; returns their output. */
async function besideNodes(
  { folder }: Halo,
  before: readonly string[],
  after: readonly string[],
): Promise<string> {
  const quoted = (words: readonly string[]) => words.map((word) => `'${word}'`).join(' ')
  const output = join(folder, 'output')
  const line = `cd '${folder}' && ${quoted(before)} "${mpirun}" ${quoted(after)} > '${output}' && echo '{}'`
  await runWithTimeout(fourNodes, [String(processes), 'sh', '-c', line], limitSeconds)
  return readFileSync(output, 'utf8')
}

/** Returns a rankfile in which no two neighbors of the grid share a node. */
function apartRankfile(): string {
  const [columns, rows] = grid
  const last = availableParallelism() - 1
  const cores = last === 0 ? '0' : `0-${last}`
  const lines = Array.from({ length: processes }, (_, rank) => {
    const [x, y, z] = [rank % columns, Math.floor(rank / columns) % rows, Math.floor(rank / columns / rows)]
    return `rank ${rank}=10.79.0.${((x + y + 2 * z) % 4) + 1} slot=${cores}\n`
  })
  return lines.join('')
}
