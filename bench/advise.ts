import { execFile, execFileSync } from 'node:child_process'
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { compileProfiler, readSeconds } from '../src/profile/profile.js'
import { type Bench, type BenchOptions, type Figure, ownFigure } from './bench.js'
import { figuresOf, timesFaster } from './comparison.js'
import { bytesText } from './message-plans.js'
import { findMpi } from './mpi-library.js'

const root = fileURLToPath(new URL('..', import.meta.url))
const fourNodes = `${root}bench/four-nodes.sh`
const limitMs = 300_000

const processes = 32
/** The grid that the program makes of its processes; both ends of a dimension are neighbors. */
const grid = [4, 4, 2]
/** Bytes of a face, and steps for a run of some seconds. */
const sizes = [
  [2 ** 10, 2000],
  [2 ** 14, 500],
  [2 ** 16, 150],
] as const

/**
 * A halo by `MPI_Isend` and `MPI_Irecv` on four nodes of this machine, started so that no two neighbors share a node:
 * runs in the order that `advise` finds beside runs in this one, and what `advise` says of the order that it found.
 */
export const adviseBench: Bench = {
  name: 'advise',
  question: 'Does advise make an unmodified program faster, and see where nothing helps?',
  async *measure(options: BenchOptions = {}): AsyncGenerator<Figure> {
    const mpi = findMpi('Open MPI')
    if ('missing' in mpi) throw new Error(mpi.missing)
    const folder = mkdtempSync(join(tmpdir(), 'rankweave-bench-advise-'))
    try {
      execFileSync(mpi.mpicc, ['-O2', '-o', join(folder, 'messages'), `${root}examples/c/messages.c`])
      writeFileSync(join(folder, givenOrder), apartRankfile())
      const halo: Halo = { folder, mpicc: mpi.mpicc, profiler: compileProfiler(folder, mpi.mpicc) }
      for (const [bytes, steps] of sizes) {
        const only = options.sizes?.split(',').map(Number) ?? [bytes]
        if (only.includes(bytes)) yield* measureSize(halo, bytes, steps, options)
      }
    } finally {
      rmSync(folder, { recursive: true, force: true })
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
/** The name under which `advise` writes a placement. */
const advisedOrder = 'rankweave-ranks.txt'

async function* measureSize(
  halo: Halo,
  bytes: number,
  steps: number,
  options: BenchOptions,
): AsyncGenerator<Figure> {
  const words = ['./messages', 'isend', bytes, steps].map(String)
  const where = `halo by MPI_Isend, ${bytesText(bytes)} a face, ${processes} processes on four nodes`
  const first = await adviceOf(halo, givenOrder, words)
  console.error(`${where}: ${first.verdict}`)
  if (!first.advised.includes('placement')) {
    yield { ...ownFigure(`${where}, placed by advise`, 's', [0], null), ours: null, failed: first.verdict }
    return
  }
  copyFileSync(join(halo.folder, advisedOrder), join(halo.folder, foundOrder))
  const [gain] = first.tried.filter(({ name }) => name === 'placement')
  let runs = 0
  const pair = async () => {
    const seconds: Record<string, number> = {}
    const orders = [givenOrder, foundOrder]
    for (const order of runs++ % 2 === 0 ? orders : orders.reverse())
      seconds[order] = await secondsOf(halo, order, words)
    return seconds
  }
  yield* figuresOf(
    [
      {
        name: `halo-${bytes}`,
        runs: 9,
        implementations: [{ name: 'pair', how: `${mpirun} ${words.join(' ')}`, run: pair }],
        cases: [
          {
            case: `${where}, placed by advise`,
            ...{ unit: 's', ours: 'pair', key: foundOrder, baselines: ['pair'], baselineKey: givenOrder },
            isPaired: true,
            target: timesFaster(1.3),
            details: { bytes, steps, processes, advised: gain.gain.ratio, advisedPairs: gain.gain.pairs },
          },
        ],
      },
    ],
    options,
  )
  const again = options.quick ? 1 : 3
  let rejected = 0
  const seconds: number[] = []
  for (let run = 0; run < again; run++) {
    const begin = performance.now()
    const { advised, verdict } = await adviceOf(halo, foundOrder, words)
    seconds.push((performance.now() - begin) / 1000)
    console.error(`${where}, in the order found: ${verdict}`)
    if (advised.length === 0 && /^Noth/.test(verdict)) rejected++
  }
  yield {
    ...ownFigure(`${where}, in the order found: until advise says that nothing helps`, 's', seconds, 300),
    ...(rejected === again ? {} : { ours: null, met: false, failed: `${again - rejected} other verdicts` }),
  }
}

const mpirun = '$FOUR_NODES_MPIRUN'

interface Advice {
  readonly advised: readonly string[]
  readonly verdict: string
  readonly tried: readonly {
    readonly name: string
    readonly gain: { readonly ratio: number; readonly pairs: number }
  }[]
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
  return JSON.parse(await besideNodes(halo, advise, ['--rankfile', order, ...program])) as Advice
}

/** Returns the seconds of a run of the program from the end of MPI_Init to the begin of MPI_Finalize. */
async function secondsOf(halo: Halo, order: string, program: readonly string[]): Promise<number> {
  const file = join(halo.folder, 'time.json')
  const library = ['-x', `LD_PRELOAD=${halo.profiler}`, '-x', `RANKWEAVE_PROFILE=time:${file}`]
  await besideNodes(halo, [], ['--rankfile', order, ...library, ...program])
  return readSeconds(readFileSync(file, 'utf8'), file)
}

/** Runs words, the launcher of four nodes, and further words in the folder of the program; returns their output. */
async function besideNodes(
  { folder }: Halo,
  before: readonly string[],
  after: readonly string[],
): Promise<string> {
  const quoted = (words: readonly string[]) => words.map((word) => `'${word}'`).join(' ')
  const line = `${quoted(before)} "${mpirun}" ${quoted(after)}`
  const { stdout } = await promisify(execFile)(fourNodes, [String(processes), 'sh', '-c', line], {
    ...{ cwd: folder, timeout: limitMs, maxBuffer: 2 ** 24 },
  })
  return stdout
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
