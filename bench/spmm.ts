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

const widths = [1, 8]
const turns = 15
const runs = { full: 5, quick: 3 }
const limitSeconds = 300
/** `auto` may take this many times as long as the better of direct sends and an ordinary allgather, always; */
const mostRatio = 1.05
/** and is to be this many times faster in one case of a rank per process at least. */
const leastGain = 1.2

/**
 * Products by the exchange that `auto` finds, compared with the better of direct sends and an ordinary allgather: the larger of the
 * two ratios of `auto`, each a median over turns of one run, in which the three take turns.
 */
export const spmmBench: Bench = {
  name: 'spmm',
  question:
    'Is the exchange that auto finds as fast as the better of direct sends and an ordinary allgather, and faster somewhere?',
  measure,
}

async function* measure({ quick = false, only = '' }: BenchOptions = {}): AsyncGenerator<Figure> {
  const built = new BuiltPrograms(['Open MPI', 'MPICH'])
  const spread: Figure[] = []
  try {
    for (const { ranks, processes, on } of layouts) {
      for (const fabric of on) {
        for (const width of widths) {
          const suite = `${fabric.replace(' ', '').toLowerCase()}-${processes}-${width}`
          if (!suite.startsWith(only)) continue
          const job = implementationOf(built, fabric, ranks, processes, width)
          const tallies = await compare(
            { name: suite, implementations: [job], cases: [] },
            quick ? runs.quick : runs.full,
          )
          const { figures, reason, disturbance } = tallies.get(job.name)!
          for (const matrix of matrices) {
            const of = `${fabric}: SpMM ${matrix} x ${width} columns, ${ranks} ranks on ${processes} processes`
            const figure = figureOf(of, matrix, figures)
            const details = {
              suite,
              fabric,
              matrix,
              width,
              ranks,
              processes,
              how: job.how,
              failed: reason || null,
              quick,
            }
            const each = { ...figure, coresBusyBefore: median(disturbance), ...details }
            if (ranks === processes) spread.push(each)
            yield each
          }
        }
      }
    }
  } finally {
    built.close()
  }
  const best = spread.reduce<Figure | null>(
    (a, b) => (b.ratio !== null && b.ratio < (a?.ratio ?? 2) ? b : a),
    null,
  )
  if (best !== null) yield gainOf(best)
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
  const [direct, allgather] = [median(samples('direct')), median(samples('allgather'))]
  const ratios = figures.map((each) =>
    Math.max(each[`${matrix} over direct`], each[`${matrix} over allgather`]),
  )
  const found = figures.length > 0
  const ratio = found ? median(ratios) : null
  const chosen = new Map<string, number>()
  const by = `${matrix} by `
  for (const name of figures.flatMap((each) => Object.keys(each)).filter((key) => key.startsWith(by)))
    chosen.set(name.slice(by.length), (chosen.get(name.slice(by.length)) ?? 0) + 1)
  const text = [...chosen].map(([name, times]) => `${name} (${times} of ${figures.length} runs)`).join(', ')
  return {
    case: `${of}: auto vs the better of direct sends and an ordinary allgather`,
    unit: 'us',
    ours: found ? median(samples('auto')) : null,
    peer: found ? Math.min(direct, allgather) : null,
    ratio,
    low: found ? Math.min(...ratios) : null,
    high: found ? Math.max(...ratios) : null,
    target: mostRatio,
    targetOf: 'ratio',
    targetIs: 'at most',
    met: ratio !== null && ratio <= mostRatio,
    runs: figures.length,
    directUs: found ? direct : null,
    allgatherUs: found ? allgather : null,
    chosen: text,
    shown: found
      ? `ratio ${Math.min(...ratios).toFixed(2)} to ${Math.max(...ratios).toFixed(2)}; direct sends ${direct.toFixed(0)} us, allgather ${allgather.toFixed(0)} us; chosen: ${text}`
      : null,
  }
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
