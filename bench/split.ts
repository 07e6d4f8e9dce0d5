import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Bench, type BenchOptions, type Figure, median, ownFigure } from './bench.js'
import { paperTotals, sorterCounts } from './split-paper.js'
import { splitPlot } from './split-plot.js'
import { Workshop } from './threads-sides.js'
import { compete, figureOf } from './threads-suite.js'

/** Seconds that a message on the critical path is charged with, since memory has no latency to speak of. */
const alpha = 1e-6
const million = 2 ** 20
const peerFlags = 'g++ -O3 -march=native'

/** One row of Table 2.1 as measured here, in seconds. */
export interface SorterRow {
  readonly n: number
  readonly p: number
  readonly rounds: number
  readonly messages: number
  readonly collect: number
  readonly splitters: number
  readonly exchange: number
  readonly merge: number
  readonly total: number
}

/** Split by parallel sort by the method of the paper, with C++ beside it; what splits keep; how fast entries sort. */
export const splitBench: Bench = {
  name: 'split',
  question: 'What does splitting cost, against Table 2.1 of Sack 2011 and the same in C++?',
  async *measure(options: BenchOptions = {}) {
    const folder = mkdtempSync(join(tmpdir(), 'rankweave-bench-split-'))
    const wanted = (suite: string) => options.only === undefined || suite.startsWith(options.only)
    try {
      const peer = compilePeer(folder)
      const rows: SorterRow[] = []
      const runs = options.quick === true ? 3 : 9
      if (wanted('memory')) yield* memoryFigures()
      if (wanted('million')) yield* millionFigures(runs)
      if (wanted('kernel')) yield* kernelFigures(peer, runs)
      if (wanted('threads64')) yield* threadsFigures(runs)
      for (const millions of options.quick === true ? [8] : [8, 16, 32, 64, 128]) {
        if (wanted(`table${millions}M`)) yield* tableFigures(millions, peer, options.quick === true, rows)
      }
      if (options.plot !== undefined && rows.length > 0) writeFileSync(options.plot, splitPlot(rows))
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  },
}

type Peer = (mode: 'conventional' | 'merging' | 'sort', entries: number, runs: number) => number[] | null

/** Null where there is no compiler: then what is a ratio counts as missed. */
function compilePeer(folder: string): Peer {
  const source = fileURLToPath(new URL('peers/split.cpp', import.meta.url))
  const program = join(folder, 'split')
  try {
    execFileSync('g++', ['-O3', '-march=native', '-o', program, source], { stdio: 'ignore' })
  } catch {
    return () => null
  }
  return (mode, entries, runs) =>
    JSON.parse(execFileSync(program, [mode, entries, runs].map(String), { encoding: 'utf8' })) as number[]
}

function child(name: string, ...words: readonly (string | number)[]): unknown[] {
  const file = fileURLToPath(new URL(name, import.meta.url))
  const args = ['--import', 'tsx', file, ...words.map(String)]
  const out = execFileSync(process.execPath, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] })
  return out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
}

function* tableFigures(millions: number, peer: Peer, quick: boolean, rows: SorterRow[]): Generator<Figure> {
  const n = millions * million
  const runs = quick || millions > 32 ? 3 : 5
  const lines = child('split-child.ts', n, runs, 64)
  const { merging } = lines.pop() as { merging: number }
  const measured = lines as SorterRow[]
  rows.push(...measured)
  const charged = ({ total, messages }: SorterRow) => total + alpha * messages
  for (const [i, p] of sorterCounts.entries()) {
    const row = measured.find((each) => each.p === p)!
    const { n: _, p: __, total: ___, ...phases } = row
    const of = `${millions}M entries, ${p} sorters`
    yield ownFigure(of, 's', [charged(row)], null, {
      ...phases,
      alpha,
      paper: paperTotals[millions][i],
      runs,
    })
  }
  const most = measured.find(({ p }) => p === 64)!
  const conventional = peer('conventional', n, millions > 32 ? 1 : 3)
  const merged = peer('merging', n, runs)
  const beside = (what: string, theirs: number | null, target: number | null, how: string): Figure => {
    const ours = charged(most)
    const ratio = theirs === null ? null : ours / theirs
    return {
      case: `${millions}M entries, 64 sorters, against ${what}`,
      unit: 's',
      ours,
      peer: theirs,
      ratio,
      target,
      met: target === null ? null : ratio !== null && ratio <= target,
      runs,
      targetOf: 'ratio',
      alpha,
      peerHow: how,
    }
  }
  const middle = (samples: number[] | null) => (samples === null ? null : median(samples))
  yield beside(
    'a conventional split in C++',
    middle(conventional),
    millions === 128 ? 1 / 60 : null,
    peerFlags,
  )
  yield beside('merging per stage in C++', middle(merged), 1 / 4, peerFlags)
  yield beside('our own merging per stage', merging, 1 / 10, 'the same kernel')
}

function* memoryFigures(): Generator<Figure> {
  const ranks = 2 ** 19
  const processes = 64
  const [{ peak, kept }] = child('split-world.ts', 'memory', ranks, processes) as [
    { peak: number; kept: number },
  ]
  const of = `world split, ${ranks} ranks on ${processes} processes, p = P' = ${processes}`
  const share = Math.ceil(ranks / processes)
  yield ownFigure(`${of}: peak`, 'bytes per process', [peak], 24 * share + 2 ** 20, {
    conventional: 24 * ranks,
  })
  yield ownFigure(`${of}: kept`, 'bytes per process', [kept], 8 * share + 4 * processes, {
    conventional: 4 * ranks,
  })
}

function* millionFigures(runs: number): Generator<Figure> {
  const ranks = 1_000_000
  const [{ samples, bytesPerRank }] = child('split-world.ts', 'million', ranks, runs) as [
    { samples: number[]; bytesPerRank: number },
  ]
  yield ownFigure(`split of ${ranks} ranks, all colors and keys here`, 's', samples, 0.5)
  yield ownFigure(`split of ${ranks} ranks: kept`, 'bytes per rank', [bytesPerRank], 24)
}

function* kernelFigures(peer: Peer, runs: number): Generator<Figure> {
  const entries = 16 * million
  const few = Math.min(runs, 5)
  const [{ samples }] = child('split-world.ts', 'kernel', entries, few) as [{ samples: number[] }]
  const theirs = peer('sort', entries, few)
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
    peerHow: `std::sort, ${peerFlags}`,
  }
}

/** 64 ranks on 2 threads against MPI_Comm_split of 64 processes; both free what they made. */
async function* threadsFigures(runs: number): AsyncGenerator<Figure> {
  const ranks = 64
  const shop = new Workshop()
  try {
    const args = { warmUp: 200, iterations: 50, batches: 31 }
    const suite = {
      name: 'threads64',
      contestants: [
        shop.ours('ours', { program: 'split', ranks, args }, 120),
        shop.peerOf('comm_split', 'comm_split', ranks, [3, 11], 120),
      ],
      cases: [],
    }
    const entry = {
      case: `split and free of ${ranks} ranks on 2 threads, vs ${ranks} oversubscribed processes`,
      unit: 'us',
      ours: 'ours',
      key: 'split',
      peers: ['comm_split'],
      target: { of: 'ratio', is: 'at most', value: 1 / 20 },
    } as const
    yield figureOf(entry, await compete(suite, runs))
  } finally {
    shop.close()
  }
}
