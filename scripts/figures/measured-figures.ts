import { readNeighborhood } from '../../bench/neighborhood/record-neighborhood.js'
import { spreadRatios } from '../../bench/result-texts.js'
import { type ResultTable, readResults } from '../../bench/results-file.js'
import { medianOf } from '../../src/base/search.js'
import { type FigureLine, figure } from './page-figures.js'

// Summaries of figures of benches, which bench/results has with its machine, date and commit.

function tableOf(name: string, title: string): ResultTable {
  const file = readResults().find((each) => each.name === name)
  const found = file?.tables.find((table) => table.title === title)
  if (found === undefined) throw new Error(`bench/results has no '${title}' of ${name}`)
  return found
}

/** A mean or largest difference from SimGrid, in percent. */
function fromSimGrid(suite: string, name: 'mean error of simulated times' | 'largest error'): string {
  const found = readResults()
    .filter((results) => results.name === 'simulate')
    .flatMap((results) => results.tables.flatMap(({ figures }) => figures))
  return figure(found.find((each) => each.case === `${suite}: ${name}`)!.ours, 1)
}

/** A row of the differences from SimGrid: the suite, what its cases are, and how many. */
function simgridRow(suite: string, what: string, cases: number): FigureLine {
  return {
    page: 'study/simgrid.md',
    line: `| ${what} | ${cases} | {}% | {}% |`,
    values: async () => [
      fromSimGrid(suite, 'mean error of simulated times'),
      fromSimGrid(suite, 'largest error'),
    ],
  }
}

/** A row of what a program takes without the preloaded library and with it. */
function preloadedRow(label: string, name: string): FigureLine {
  return {
    page: 'speed-up-your-mpi-program.md',
    line: `| ${label} | {} | {} |`,
    values: async () => {
      const tables = readResults().find((file) => file.name === 'shim')!.tables
      const found = tables.flatMap(({ figures }) => figures).find((each) => each.case === name)!
      return [found.peer!, found.ours].map((us) =>
        us < 10_000 ? `${figure(us, us < 100 ? 1 : 0)} us` : `${figure(us / 1000)} ms`,
      )
    },
  }
}

/** Ratios of times in one table of a bench, from the least to the greatest, of cases that a pattern matches. */
function ratiosOf(name: string, title: string, cases: RegExp): number[] {
  const { figures } = tableOf(name, title)
  return figures
    .filter((each) => cases.test(each.case))
    .map(({ ratio }) => ratio!)
    .sort((a, b) => a - b)
}

/** A line with the least and the greatest of such ratios. */
function rangeLine(page: string, line: string, ratios: () => readonly number[]): FigureLine {
  return { page, line, values: async () => [ratios()[0], ratios().at(-1)!].map((ratio) => figure(ratio, 2)) }
}

/** What algorithms along the dimensions of four nodes took by what Open MPI chose, without those of several ports. */
const exportedRatios = () =>
  ratiosOf(
    'exported',
    'Along the dimensions of four nodes, and the algorithms that Open MPI chooses',
    /^[a-z-]+ 1 MiB/,
  )

/** What products by the exchange that `auto` chooses took by the better of two, with one rank per process of MPI. */
const productRatios = () =>
  ratiosOf(
    'spmm',
    'A product by the exchange that auto chooses, and by the better of direct sends and an ordinary allgather',
    /^(Open MPI|MPICH): .* 16 ranks on 16 processes$/,
  )

/** The mean and the worst of how much longer the choice of `auto` takes than the best known strategy, in percent. */
async function regrets(): Promise<string[]> {
  const { figures } = readNeighborhood()
  return ['mean', 'worst'].map((name) =>
    figure(figures.find((each) => each.case === `regret of the choice: ${name}`)!.ours!, 1),
  )
}

const mooreThree = 'Open MPI: neighbor allgather 4 B, Moore 2-D r=3, 64 processes, C'

/** What a case takes here, and its baseline, in its unit. */
function caseOf(
  name: string,
  title: string,
  wanted: string,
): readonly [ours: number, peer: number | undefined] {
  const found = tableOf(name, title).figures.find((each) => each.case === wanted)!
  return [found.ours, found.peer]
}

/** The seconds in which two ranks on threads start and end. */
async function startSeconds(title: string, of: 'run() alone' | 'whole program'): Promise<string[]> {
  return [figure(caseOf('threads', title, `start and end, 2 ranks, ${of}`)[0] / 1000, 2)]
}

export const measuredFigures: readonly FigureLine[] = [
  {
    page: 'getting-started.md',
    line: 'It takes {} ms in one thread, {} ms by two ranks, {} ms by two workers of piscina.',
    values: async () => {
      const loop = 'Mandelbrot loop, 2 threads, vs'
      const [ours, plain] = caseOf('peers', 'Compared with the plain loop', `${loop} the plain loop`)
      const [, piscina] = caseOf('peers', 'Compared with piscina', `${loop} piscina`)
      return [plain!, ours, piscina!].map((ms) => figure(ms))
    },
  },
  {
    page: 'getting-started.md',
    line: 'The threads ran already; each `run` takes {} s to start and end two ([how this was measured](benchmarks.md#parallel-loops)).',
    values: () => startSeconds('Without a baseline', 'run() alone'),
  },
  {
    page: 'running.md',
    line: 'Node and the library start before that: a whole program takes {} s ([benchmarks](benchmarks.md#parallel-loops)).',
    values: () => startSeconds('Compared with C on Open MPI', 'whole program'),
  },
  {
    page: 'running.md',
    line: 'A call of `run` with two workers takes {} s from start to end, and 2 to 3 times as long if the program is TypeScript.',
    values: () => startSeconds('Without a baseline', 'run() alone'),
  },
  {
    page: 'README.md',
    line: 'MPI programs with and without the preloaded library, {} cases of 4 to 64 processes on two cores: median {} times as fast, from {} times as fast to {} times as long ([all](docs/benchmarks.md#all-comparisons)).',
    values: async () => {
      const ratios = spreadRatios(tableOf('shim', 'The same program with the library and without it').figures)
      const [least, most] = [Math.min(...ratios), Math.max(...ratios)]
      return [`${ratios.length}`, figure(1 / medianOf(ratios), 2), figure(1 / least), figure(most, 2)]
    },
  },
  preloadedRow('Open MPI, C, 64 processes, grid of 48 neighbors', mooreThree),
  preloadedRow(
    'Open MPI, C, 64 processes, random graph of density 0.5',
    'Open MPI: neighbor allgather 4 B, random d=0.5, 64 processes, C',
  ),
  preloadedRow(
    'Open MPI, mpi4py, 16 processes, grid of 8 neighbors',
    'Open MPI: neighbor allgather 4 B, Moore 2-D r=1, 16 processes, mpi4py',
  ),
  preloadedRow(
    'MPICH, C, 64 processes, grid of 48 neighbors',
    'MPICH: neighbor allgather 4 B, Moore 2-D r=3, 64 processes, C',
  ),
  {
    page: 'simulation.md',
    line: 'The mean difference is {}% on clusters and {}% on a torus and a Clos network; the largest is {}%.',
    values: async () => [
      fromSimGrid('clusters', 'mean error of simulated times'),
      fromSimGrid('torus and tapered Clos', 'mean error of simulated times'),
      fromSimGrid('clusters', 'largest error'),
    ],
  },
  {
    page: 'websocket.md',
    line: 'With 50 ms of latency, allgathers of 16 MiB in a loop reach {} MB/s, and bare `ws` {} MB/s.',
    values: async () => {
      const slow = 'allgather, 16 MiB per rank, 2 processes, 50 ms latency, vs bare ws'
      return caseOf('websocket', 'Compared with bare `ws`', slow).map((rate) => figure(rate!, 1))
    },
  },
  {
    page: 'strategies.md',
    line: 'The simulator differs from SimGrid, an independent simulator, by {}% on average on clusters, and by {}% at most.',
    values: async () => [
      fromSimGrid('clusters', 'mean error of simulated times'),
      fromSimGrid('clusters', 'largest error'),
    ],
  },
  rangeLine(
    'network-collectives.md',
    'Exported to C, with 16 processes and 1 MiB, these algorithms with one port took {} to {} times as long as what Open MPI chooses.',
    exportedRatios,
  ),
  rangeLine(
    'sparse-products.md',
    'There, with one rank per process, products took {} to {} of the time of the better other exchange in [our measurements](benchmarks.md#sparse-products).',
    productRatios,
  ),
  rangeLine(
    'study/sparse-products.md',
    'With one rank per process on one node of MPI, `auto` chose shared memory in 44 of 48 runs, and its products took {} to {} of the time.',
    productRatios,
  ),
  {
    page: 'neighborhood-strategies.md',
    line: 'The choice takes {}% longer than the best known strategy on average over 60 cases, and {}% at worst (`bench/neighborhood/results.json`).',
    values: regrets,
  },
  {
    page: 'decisions/0032-chosen-strategies.md',
    line: 'Over 60 cases (64 to 1,024 ranks) choices take {}% longer than the best tried on average, {}% at worst.',
    values: regrets,
  },
  {
    page: 'decisions/0061-regions-of-shared-memory.md',
    line: 'Open MPI 4.1.4, 64 processes on 2 cores, 4 bytes, Moore r = 3: {} us without the library, {} in shared memory (`bench/results/shim.json`).',
    values: async () => {
      const { figures } = tableOf('shim', 'The same program with the library and without it')
      const { ours, peer } = figures.find((each) => each.case === mooreThree)!
      return [figure(peer!), figure(ours)]
    },
  },
  simgridRow(
    'clusters',
    'clusters of 4 and 16 nodes of 16 cores; direct, common-neighbor, ring, Bruck and recursive doubling, binomial bcast, allreduce; 4 B, 4 KiB, with 4 nodes also 256 KiB; `simgrid-fast` and `simgrid-slow`',
    70,
  ),
  simgridRow(
    'torus and tapered Clos',
    '4 x 4 x 4 torus and a Clos network with 4 ports down for each port up, `simgrid-fast`; 64 and 256 ranks; 4 KiB, with 64 ranks also 256 KiB',
    24,
  ),
  simgridRow(
    'blocks side by side and apart',
    'blocks side by side and apart: allgathers by ring, recursive doubling, Bruck and distance halving, a binomial scatter with root 5, an alltoall by Bruck; 64 ranks on 4 nodes of 16 cores and on that Clos network; 1 and 16 KiB',
    24,
  ),
  simgridRow(
    'along dimensions',
    'along the dimensions of networks (29 November 2026): allgathers on a 4 x 4 x 4 torus and that Clos network, reduce-scatters on a 3 x 5 x 4 torus; `reordered`, and `bucket` with 1, 3 and 6 ports, beside recursive doubling and rings; 4 and 256 KiB, `simgrid-fast`',
    24,
  ),
  simgridRow('farthest nodes first', 'allgathers of 16 KiB on 128 nodes of a Clos network, below', 4),
]
