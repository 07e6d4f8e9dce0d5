import { fileURLToPath } from 'node:url'
import { type Bench, type BenchOptions, type Figure, median } from './bench.js'
import { BuiltPrograms, type OurWorld } from './build-programs.js'
import { compare, type Implementation } from './comparison.js'
import type { SpmmCases } from './programs/spmm.js'
import type { Figures } from './run-with-timeout.js'

/** In `test/matrices`. */
const files = {
  dwt_2680: 'dwt_2680.mtx',
  can_1072: 'can_1072.mtx',
  bcspwr10: 'bcspwr10.mtx',
  mbeacxc: 'mbeacxc.mtx.gz',
} as const
type Matrix = keyof typeof files
const matrices = Object.keys(files) as Matrix[]

const fabrics = ['Open MPI', 'MPICH', 'threads', 'local'] as const
type Fabric = (typeof fabrics)[number]

/** Ranks on processes; those of `local` are logical ones, so there can be more of them. */
const layouts: readonly {
  readonly ranks: number
  readonly processes: number
  readonly on: readonly Fabric[]
}[] = [
  { ranks: 16, processes: 16, on: ['Open MPI', 'MPICH', 'threads'] },
  { ranks: 64, processes: 64, on: ['local'] },
  { ranks: 64, processes: 2, on: ['Open MPI', 'MPICH', 'threads'] },
]

const widths = [8, 1]
const turns = 15
const runs = { full: 5, quick: 1 }
const limitSeconds = 120
/** No further round of runs begins that would not end by then, as long as the last one took. */
const budgetSeconds = 540
/** Of fewer turns there is no 95% interval: their median is judged. */
const leastTurns = 6
/**
 * `auto` may take this many times as long as the better of direct sends and an ordinary allgather, always;
 */
const mostRatio = 1.05
/** and is to be this many times faster in one case of a rank per process at least. */
const leastGain = 1.2

/**
 * Products by the exchange that `auto` finds, compared with the better of direct sends and an ordinary
 * allgather: the larger of the two ratios of `auto`, medians over all turns of all runs, in which the three
 * take turns. A ratio is a miss where its whole 95% interval is above the limit: two products by the same
 * exchange differ too.
 */
export const spmmBench: Bench = {
  name: 'spmm',
  question:
    'Is the exchange that auto finds as fast as the better of direct sends and an ordinary allgather, and faster somewhere?',
  measure,
}

/** Ranks on the processes of a fabric, and what their runs gave. */
interface Suite {
  readonly name: string
  readonly of: string
  readonly isRankPerProcess: boolean
  readonly job: Implementation
  readonly details: Readonly<Record<string, string | number>>
  readonly figures: Figures[]
  readonly disturbance: number[]
  failed: string | null
}

async function* measure({ quick = false, only = '' }: BenchOptions = {}): AsyncGenerator<Figure> {
  const built = new BuiltPrograms(['Open MPI', 'MPICH'])
  const begin = performance.now()
  const elapsed = () => (performance.now() - begin) / 1000
  try {
    const suites = suitesOf(built).filter(({ name }) => name.startsWith(only))
    // Round by round, so that whatever else the machine does meets all suites.
    for (let round = 0, longest = 0; round < (quick ? runs.quick : runs.full); round++) {
      const before = elapsed()
      if (before + longest > budgetSeconds) break
      for (const suite of suites) {
        if (suite.failed !== null) continue
        const tally = (await compare({ name: suite.name, implementations: [suite.job], cases: [] }, 1)).get(
          suite.job.name,
        )!
        suite.figures.push(...tally.figures)
        suite.disturbance.push(...tally.disturbance)
        if (tally.failures > 0) suite.failed = tally.reason
      }
      longest = Math.max(longest, elapsed() - before)
    }
    let best: Figure | null = null
    for (const suite of suites) {
      for (const matrix of matrices) {
        const { of, figures, disturbance, details, failed, isRankPerProcess, job } = suite
        const each = {
          ...figureOf(of.replace('MATRIX', matrix), matrix, figures),
          coresBusyBefore: disturbance.length === 0 ? null : median(disturbance),
          ...{ suite: suite.name, matrix, ...details, how: job.how, failed, quick },
        }
        if (isRankPerProcess && each.ratio !== null && each.ratio < (best?.ratio ?? 2)) best = each
        yield each
      }
    }
    if (best !== null) yield gainOf(best)
  } finally {
    built.close()
  }
}

function suitesOf(built: BuiltPrograms): Suite[] {
  return layouts.flatMap(({ ranks, processes, on }) =>
    on.flatMap((fabric) =>
      widths.map((width) => ({
        name: `${fabric.replace(' ', '').toLowerCase()}-${processes}-${width}`,
        of: `${fabric}: SpMM MATRIX x ${width} columns, ${ranks} ranks on ${processes} processes`,
        isRankPerProcess: ranks === processes,
        job: implementationOf(built, fabric, ranks, processes, width),
        details: { fabric, width, ranks, processes },
        figures: [],
        disturbance: [],
        failed: null,
      })),
    ),
  )
}

function implementationOf(
  built: BuiltPrograms,
  fabric: Fabric,
  ranks: number,
  processes: number,
  width: number,
): Implementation {
  const paths = Object.fromEntries(
    matrices.map((key) => [key, fileURLToPath(new URL(`../test/matrices/${files[key]}`, import.meta.url))]),
  )
  const args: SpmmCases = { files: paths, width, turns }
  const world: OurWorld = { program: 'spmm', ranks, processes, args }
  if (fabric === 'threads') return built.onThreads('ours', world, limitSeconds)
  if (fabric === 'local') return built.onLocal('ours', world, limitSeconds)
  return built.onMpi('ours', fabric, world, limitSeconds)
}

/** `auto` on one matrix, in some runs. */
function figureOf(of: string, matrix: Matrix, figures: readonly Figures[]): Figure {
  const samples = (what: string) => figures.map((each) => each[`${matrix} ${what}`])
  const found = figures.length > 0
  const [direct, allgather] = [median(samples('direct')), median(samples('allgather'))]
  const [better, worse] = ['direct', 'allgather']
    .map((name) => ratioOver(`${matrix} over ${name} `, figures))
    .sort((a, b) => b.median - a.median)
  const ratio = found ? better.median : null
  const chosen = new Map<string, number>()
  const by = `${matrix} by `
  for (const name of figures.flatMap((each) => Object.keys(each)).filter((key) => key.startsWith(by)))
    chosen.set(name.slice(by.length), (chosen.get(name.slice(by.length)) ?? 0) + 1)
  const text = [...chosen].map(([name, times]) => `${name} (${times} of ${figures.length} runs)`).join(', ')
  return {
    case: `${of}`,
    unit: 'us',
    ours: found ? median(samples('auto')) : null,
    peer: found ? Math.min(direct, allgather) : null,
    ratio,
    low: found ? better.low : null,
    high: found ? better.high : null,
    target: mostRatio,
    targetOf: '95% interval of ratio',
    targetIs: 'at most',
    met:
      found &&
      [better, worse].every(({ median, low, turns }) => (turns < leastTurns ? median : low) <= mostRatio),
    runs: figures.length,
    turns: better.turns,
    directUs: found ? direct : null,
    allgatherUs: found ? allgather : null,
    chosen: text,
    shown: found
      ? `ratio ${better.low.toFixed(2)} to ${better.high.toFixed(2)} in ${better.turns} turns; direct sends ${direct.toFixed(0)} us, allgather ${allgather.toFixed(0)} us; chosen: ${text}`
      : null,
  }
}

/**
 * Median of the ratios of all turns of all runs, and its 95% interval from order statistics, the normal
 * approximation: as many of them are on either side of it as of the tosses of a fair coin.
 */
function ratioOver(prefix: string, figures: readonly Figures[]) {
  const ratios = figures
    .flatMap((each) =>
      Object.keys(each)
        .filter((key) => key.startsWith(prefix))
        .map((key) => each[key]),
    )
    .sort((a, b) => a - b)
  const turns = ratios.length
  const below = Math.max(0, Math.floor((turns - 1.96 * Math.sqrt(turns)) / 2))
  return { median: median(ratios), low: ratios[below], high: ratios[turns - 1 - below], turns }
}

/** How much faster `auto` is where it is best. */
function gainOf({ case: of, ratio, low, high, runs: times }: Figure): Figure {
  const gain = 1 / ratio!
  return {
    case: `largest gain with one rank per process: ${of.replace(/: auto vs .*/, '')}`,
    unit: 'times faster',
    ours: gain,
    peer: null,
    ratio: null,
    low: 1 / Number(high),
    high: 1 / Number(low),
    target: leastGain,
    targetOf: 'ours',
    targetIs: 'at least',
    met: gain >= leastGain,
    runs: times,
  }
}
