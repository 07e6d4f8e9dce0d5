import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { type Bench, type BenchOptions, type Figure, median, ownFigure } from '../bench.js'
import { BuiltPrograms } from '../build-programs.js'
import { figuresOf } from '../comparison.js'
import { replicationFigures } from './figure-2-2.js'
import { paperSeconds } from './paper-table.js'
import { phaseFigures } from './phases.js'
import { retainedFigures } from './retained-figures.js'
import { compileSplitBaseline, type SplitBaseline } from './split-baseline.js'
import { splitPlot } from './split-plot.js'
import { splitSuites } from './split-suites.js'
import { million, type SplitTable } from './split-table.js'

/**
 * Splits by parallel sort by the method of the paper, compared with C++; memory retained by splits; sorting
 * of entries.
 */
export const splitBench: Bench = {
  name: 'split',
  question: 'What does splitting cost, compared with Table 2.1 of Sack 2011, C++ and MPI_Comm_split?',
  async *measure(options: BenchOptions = {}) {
    const quick = options.quick === true
    const wanted = (suite: string) => options.only === undefined || suite.startsWith(options.only)
    const baseline = compileSplitBaseline()
    const rows: SplitTable['rows'][number][] = []
    const runs = quick ? 3 : 9
    try {
      if (wanted('memory')) yield* memoryFigures()
      if (wanted('million')) yield* millionFigures(runs)
      if (wanted('mains')) yield* mainsFigures(Math.min(runs, 5))
      if (wanted('retained')) yield* retainedFigures(quick)
      if (wanted('kernel')) yield* kernelFigures(baseline, runs)
      if (['threads64', 'mpi'].some((name) => wanted(name) || options.only?.startsWith(name) === true)) {
        yield* worldFigures(options)
      }
      if (wanted('phases') || wanted('figure2.2') || /^(phases|figure)/.test(options.only ?? '')) {
        yield* processFigures(baseline, options)
      }
      for (const millions of quick ? [8] : [8, 16, 32, 64, 128]) {
        if (wanted(`table${millions}M`)) yield* tableFigures(millions, quick ? 3 : 5, rows)
      }
      if (options.plot !== undefined && rows.length > 0) writeFileSync(options.plot, splitPlot(rows))
    } finally {
      baseline.close()
    }
  },
}

/**
 * A TypeScript program in its own process, so that nothing else is on the heap; its last line is JSON.
 */
function child<T>(path: string, ...words: readonly (string | number)[]): T {
  const file = fileURLToPath(new URL(path, import.meta.url))
  const args = ['--import', 'tsx', file, ...words.map(String)]
  const out = execFileSync(process.execPath, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] })
  return JSON.parse(out.trim().split('\n').at(-1)!) as T
}

/**
 * Most rounds of the search for exact splitters of 2^25 entries, and least gain of merging from 8M entries on
 * (docs/study/split-measurements.md).
 */
const mostRounds = 27
const leastMergingGain = 4

/** What `npm run bench -- split --table` measures. */
function* tableFigures(millions: number, runs: number, all: SplitTable['rows'][number][]): Generator<Figure> {
  const words = ['split', '--table', '--entries', millions, '--runs', runs, '--json']
  const table = child<SplitTable>('../main.ts', ...words)
  const { alpha, rows, baselines, verdicts, peer } = table
  all.push(...rows)
  for (const row of rows) {
    const { entries: _, sorters, total, ...details } = row
    const charged = total + alpha * row.messages
    const paper = paperSeconds(millions, sorters, 'total')
    const figure = ownFigure(`${millions}M entries, ${sorters} sorters`, 's', [charged], null)
    yield { ...figure, ...details, alpha, paper, runs }
  }
  const of = (sorters: number) => rows.find((row) => row.sorters === sorters)!
  const scaling = (what: string, ours: number, expected: string): Figure => ({
    ...ownFigure(`${millions}M entries: ${what}`, '', [ours], null),
    expected,
    runs,
  })
  yield scaling('collect, 2 sorters / 64 sorters', of(2).collect / of(64).collect, 'as n / p: 32')
  yield scaling('merge, 2 sorters / 4 sorters', of(2).merge / of(4).merge, 'about 1')
  const exponent = Math.log2(of(64).splitters / of(8).splitters) / 3
  yield scaling('splitters, exponent of p from 8 to 64', exponent, '1 to 1.3')
  const rounds = `${millions}M entries: rounds, 64 sorters`
  yield ownFigure(rounds, '', [of(64).rounds], millions <= 32 ? mostRounds : null)
  const [{ conventional, merging, cppConventional, cppMerging }] = baselines
  const gain = cppConventional === null || cppMerging === null ? null : cppConventional / cppMerging
  yield {
    case: `${millions}M entries: conventional split / merging, both in C++`,
    unit: 'times as fast',
    ours: gain,
    peer: null,
    ratio: null,
    target: leastMergingGain,
    targetIs: 'at least',
    met: gain !== null && gain >= leastMergingGain,
    runs,
    peerHow: peer,
  }
  yield scaling('our conventional split, by radix / our merging', conventional / merging, 'less than in C++')
  for (const { faster, times, target, met, sorters } of verdicts) {
    yield {
      case: `${millions}M entries, ${sorters} sorters, compared with ${faster}`,
      unit: 'times as fast',
      ours: times,
      peer: null,
      ratio: null,
      target,
      targetIs: 'at least',
      met,
      runs,
      alpha,
      peerHow: peer,
    }
  }
}

function* memoryFigures(): Generator<Figure> {
  const processes = 64
  for (const ranks of [2 ** 19, 2 ** 20]) {
    const { peak, retained } = child<{ peak: number; retained: number }>(
      'split-world.ts',
      'memory',
      ranks,
      processes,
    )
    const of = `world split, ${ranks} ranks on ${processes} processes, p = P' = ${processes}`
    const share = Math.ceil(ranks / processes)
    yield ownFigure(`${of}: peak`, 'bytes per process', [peak], 24 * share + 2 ** 20, {
      conventional: 24 * ranks,
    })
    yield ownFigure(`${of}: retained`, 'bytes per process', [retained], 8 * share + 4 * processes, {
      conventional: 4 * ranks,
    })
  }
}

function* millionFigures(runs: number): Generator<Figure> {
  const ranks = 1_000_000
  const { samples, bytesPerRank } = child<{ samples: number[]; bytesPerRank: number }>(
    ...(['split-world.ts', 'million', ranks, runs] as const),
  )
  yield ownFigure(`split of ${ranks} ranks, all colors and keys in one process`, 's', samples, 0.5)
  yield ownFigure(`split of ${ranks} ranks: retained`, 'bytes per rank', [bytesPerRank], 24)
}

/** The same split, called by as many awaiting mains in one process. */
function* mainsFigures(runs: number): Generator<Figure> {
  const ranks = 1_000_000
  const seconds: number[] = []
  const bytes: number[] = []
  for (let run = 0; run < runs; run++) {
    seconds.push(child<{ seconds: number }>('split-world.ts', 'mains', ranks, 0).seconds)
  }
  bytes.push(child<{ bytesPerRank: number }>('split-world.ts', 'mains', ranks, 1).bytesPerRank)
  const what = `${ranks} awaiting mains split into 1000`
  yield ownFigure(`${what}: from the start of the world to its end`, 's', seconds, 6)
  yield ownFigure(`${what}: heap while all wait with their new communicators`, 'bytes per rank', bytes, 1024)
}

function* kernelFigures(baseline: SplitBaseline, runs: number): Generator<Figure> {
  const entries = 16 * million
  const few = Math.min(runs, 5)
  const { samples } = child<{ samples: number[] }>('split-world.ts', 'kernel', entries, few)
  const theirs = baseline.seconds('sort', entries, few)
  const ours = median(samples)
  const other = theirs === null ? null : median(theirs)
  yield {
    case: `sort of ${entries} entries (color, key, rank), 1000 colors`,
    unit: 's',
    ours,
    peer: other,
    ratio: other === null ? null : ours / other,
    target: 1,
    met: other !== null && ours <= other,
    runs: few,
    targetOf: 'ratio',
    peerHow: `std::sort, ${baseline.how}`,
  }
}

/** Whole splits compared with MPI_Comm_split; both sides free their communicators. */
async function* worldFigures(options: BenchOptions): AsyncGenerator<Figure> {
  const built = new BuiltPrograms(libraries)
  try {
    yield* figuresOf(splitSuites(built, libraries), options)
  } finally {
    built.close()
  }
}

/**
 * Whole splits of many ranks: every phase on real processes, and distributed tables compared with replicated
 * ones.
 */
async function* processFigures(baseline: SplitBaseline, options: BenchOptions): AsyncGenerator<Figure> {
  const built = new BuiltPrograms(libraries)
  try {
    yield* phaseFigures(built, baseline, options)
    yield* replicationFigures(built, options)
  } finally {
    built.close()
  }
}

const libraries = ['Open MPI', 'MPICH'] as const
