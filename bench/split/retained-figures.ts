import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { SplitAlgorithmName } from '../../src/comm/split/split-plan.js'
import { type Figure, median, ownFigure } from '../bench.js'
import type { Accounts, Measured } from './split-retained.js'

/**
 * What a process retains with a distributed table, of what it retains with a replicated one: all arrays, per
 * communicator.
 */
const mostOfReplicated = 1 / 4

/** At least 100,000 rows per process. */
const measuredRanks = 400_000
const measuredProcesses = 4

const variants: readonly (readonly [SplitAlgorithmName, 'distributed' | 'replicated'])[] = [
  ['conventional', 'replicated'],
  ['merging', 'replicated'],
  ['parallel-sort', 'replicated'],
  ['parallel-sort', 'distributed'],
  ['sample-sort', 'replicated'],
  ['sample-sort', 'distributed'],
  ['minimal', 'replicated'],
  ['minimal', 'distributed'],
]

/**
 * Memory that splits of random colors leave behind: what the account says, and what the heap and the array
 * buffers say.
 */
export function* retainedFigures(quick: boolean): Generator<Figure> {
  yield* accountFigures(quick)
  yield oneProcessFigure(quick ? 1 : 3)
  for (const [algorithm, table] of variants) yield measuredFigure(algorithm, table, quick ? 1 : 3)
}

/** What the account says alone, which has a target. */
export function* accountFigures(quick: boolean): Generator<Figure> {
  yield accountFigure(100_000, 64, 64, 1)
  yield accountFigure(100_000, 64, 64, 4)
  yield quick ? accountFigure(1024, 1024, 32, 2) : accountFigure(4096, 4096, 64, 2)
}

/** Medians of one variant: bytes per process by which the array buffers grew, compared with the account. */
export function measuredFigure(algorithm: string, table: string, runs: number): Figure {
  const samples = Array.from({ length: runs }, () =>
    child<Measured>('measured', algorithm, table, measuredRanks, measuredProcesses, 4),
  )
  const of = (name: keyof Measured) => median(samples.map((sample) => sample[name]))
  const name = `${measuredRanks} ranks on ${measuredProcesses} processes, 4 random colors, ${algorithm}, ${table} table`
  return {
    ...ownFigure(
      `${name}: array buffers`,
      'bytes per process',
      samples.map((sample) => sample.arrayBuffers),
      null,
    ),
    account: of('account'),
    heap: of('heap'),
  }
}

/** A table and the list of ranks here, 4 bytes of each per rank, and little else. */
const mostPerRank = 8.1

/** Bytes per rank by which the array buffers of one process grew: a split of 10^6 ranks into two. */
export function oneProcessFigure(runs: number): Figure {
  const ranks = 1_000_000
  const samples = Array.from({ length: runs }, () =>
    child<Measured>('measured', 'conventional', 'replicated', ranks, 1, 2),
  )
  const perRank = samples.map(({ arrayBuffers }) => arrayBuffers / ranks)
  return ownFigure(
    `${ranks} ranks on one process, 2 random colors: array buffers`,
    'bytes per rank',
    perRank,
    mostPerRank,
  )
}

function accountFigure(ranks: number, processes: number, sorters: number, colors: number): Figure {
  const { distributed, replicated } = child<Accounts>('account', ranks, processes, sorters, colors)
  // Plans of collectives depend on the ranks here and are the same with both tables; they are shown beside.
  const [ours, whole] = [distributed.total - distributed.plans, replicated.total - replicated.plans]
  return {
    ...ownFigure(
      `${ranks} ranks on ${processes} processes, ${colors} random colors: retained, distributed / replicated`,
      '',
      [ours / whole],
      mostOfReplicated,
    ),
    sorters,
    distributed: ours,
    replicated: whole,
    distributedPlans: distributed.plans,
    replicatedPlans: replicated.plans,
  }
}

/** In its own process, so that nothing else is on the heap. */
function child<T>(...words: readonly (string | number)[]): T {
  const file = fileURLToPath(new URL('split-retained.ts', import.meta.url))
  const args = ['--max-old-space-size=8000', '--import', 'tsx', file, ...words.map(String)]
  const out = execFileSync(process.execPath, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] })
  return JSON.parse(out.trim().split('\n').at(-1)!) as T
}
