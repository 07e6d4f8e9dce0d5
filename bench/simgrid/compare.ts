import { simulate } from '../../src/cost/simulate/simulate.js'
import type { BenchOptions, Figure } from '../bench.js'
import { bytesText } from '../message-plans.js'
import {
  blockComparisons,
  type Comparison,
  clusterComparisons,
  dimensionComparisons,
  farthestFirstComparisons,
  networkComparisons,
  prepare,
  quickComparisons,
} from './cases.js'
import { missingSimgrid, Simgrid } from './simgrid.js'

const limitSeconds = 600

/** One schedule with one length on one machine: simulated by us and by SimGrid, microseconds. */
interface Pair {
  readonly machine: string
  readonly schedule: string
  readonly bytes: number
  readonly ours: number
  /** Null where SimGrid failed. */
  readonly simgrid: number | null
}

/** Comparisons that one mean error sums up. */
export interface ComparedSuite {
  readonly name: string
  readonly comparisons: readonly Comparison[]
  /** Percent. */
  readonly meanAtMost: number
  /** Percent, of every case. */
  readonly eachAtMost?: number
}

const clusters = { name: 'clusters', comparisons: clusterComparisons, meanAtMost: 15 }
const networks = { name: 'torus and tapered Clos', comparisons: networkComparisons, meanAtMost: 25 }

export const blockSuite: ComparedSuite = {
  name: 'blocks side by side and apart',
  comparisons: blockComparisons,
  meanAtMost: 5,
}

export const farthestFirstSuite: ComparedSuite = {
  name: 'farthest nodes first',
  comparisons: farthestFirstComparisons,
  meanAtMost: 5,
  eachAtMost: 5,
}

export const dimensionSuite: ComparedSuite = {
  name: 'along dimensions',
  comparisons: dimensionComparisons,
  meanAtMost: 15,
}

const suites: readonly ComparedSuite[] = [clusters, networks, blockSuite, farthestFirstSuite]

const quickSuites: readonly ComparedSuite[] = [
  { ...clusters, comparisons: quickComparisons.clusters },
  { ...networks, comparisons: quickComparisons.networks },
  blockSuite,
]

/** Simulated times compared with those of SimGrid, which moves the data. */
export function compareWithSimgrid({ quick = false }: BenchOptions): AsyncIterable<Figure> {
  return figuresOfSuites(quick ? quickSuites : suites)
}

/** The same of algorithms along the dimensions of networks. */
export function compareAlongDimensions(): AsyncIterable<Figure> {
  return figuresOfSuites([dimensionSuite])
}

async function* figuresOfSuites(compared: readonly ComparedSuite[]): AsyncGenerator<Figure> {
  const missing = missingSimgrid()
  const simgrid = missing === null ? new Simgrid() : null
  try {
    for (const suite of compared) yield* figuresOfSuite(suite, simgrid, missing ?? '')
  } finally {
    simgrid?.close()
  }
}

/** A figure of every case, then of all together: their mean and largest error, and their order. */
export async function* figuresOfSuite(
  { name, comparisons, meanAtMost, eachAtMost }: ComparedSuite,
  simgrid: Simgrid | null,
  missing: string,
): AsyncGenerator<Figure> {
  const pairs: Pair[] = []
  for await (const { pair, figure } of pairsOf(comparisons, simgrid, missing)) {
    pairs.push(pair)
    yield { ...figure, suite: name }
  }
  yield meanError(`${name}: mean error of simulated times`, pairs, meanAtMost, missing)
  yield largestError(`${name}: largest error`, pairs, eachAtMost ?? null, missing)
  yield otherOrder(`${name}: pairs that SimGrid separates by > 10%, in another order`, pairs, missing)
}

async function* pairsOf(
  comparisons: readonly Comparison[],
  simgrid: Simgrid | null,
  missing: string,
): AsyncGenerator<{ readonly pair: Pair; readonly figure: Figure }> {
  for (const comparison of comparisons) {
    const { machine, schedules } = prepare(comparison)
    const { note } = comparison
    for (const [s, lowered] of schedules.entries()) {
      const { ranks } = lowered.schedule.specification
      let failed = missing
      let times: readonly (number | null)[] = comparison.bytes.map(() => null)
      let wallMs: number | null = null
      try {
        if (simgrid !== null) {
          const done = await simgrid.simulate(machine, [{ lowered, bytes: comparison.bytes }], limitSeconds)
          times = done.timesUs[0]
          wallMs = done.wallMs
        }
      } catch (error) {
        failed = error instanceof Error ? error.message : String(error)
      }
      for (const [i, bytes] of comparison.bytes.entries()) {
        const ours = simulate(lowered, machine, { bytes }).timeUs
        const named = comparison.schedules[s]
        const pair = {
          machine: comparison.machine,
          schedule: note === undefined ? named : `${named} (${note})`,
          bytes,
          ours,
          simgrid: times[i],
        }
        yield { pair, figure: pairFigure(pair, ranks, wallMs, simgrid?.version ?? null, failed) }
      }
    }
  }
}

function pairFigure(
  pair: Pair,
  ranks: number,
  wallMs: number | null,
  version: string | null,
  failed: string,
): Figure {
  const { ours, simgrid } = pair
  return {
    case: `${pair.machine} ${pair.schedule} ${bytesText(pair.bytes)}`,
    unit: 'us simulated',
    ours,
    peer: simgrid,
    ratio: simgrid === null ? null : ours / simgrid,
    target: null,
    met: simgrid === null ? false : null,
    runs: 1,
    errorPercent: simgrid === null ? null : errorOf(pair),
    ranks,
    baseline: version,
    simgridWallMs: wallMs,
    ...(simgrid === null ? { failed } : {}),
  }
}

/** Percent of SimGrid's time; negative where ours is shorter. */
function errorOf({ ours, simgrid }: Pair): number {
  return (ours / simgrid! - 1) * 100
}

function meanError(name: string, pairs: readonly Pair[], target: number, failed: string): Figure {
  const errors = pairs.map((pair) => Math.abs(errorOf(pair)))
  return summary(
    name,
    '%',
    pairs,
    errors.reduce((sum, error) => sum + error, 0) / pairs.length,
    target,
    failed,
  )
}

function largestError(name: string, pairs: readonly Pair[], target: number | null, failed: string): Figure {
  const largest = pairs.reduce((most, pair) =>
    Math.abs(errorOf(pair)) > Math.abs(errorOf(most)) ? pair : most,
  )
  const shown = `${largest.machine} ${largest.schedule} ${bytesText(largest.bytes)}`
  const figure = summary(name, '%', pairs, errorOf(largest), target, failed)
  const isMet = figure.met === null ? null : figure.ours !== null && Math.abs(figure.ours) <= target!
  return { ...figure, met: isMet, of: shown }
}

/**
 * Pairs of schedules with equally long data on one machine, of which SimGrid says that one takes over 10%
 * longer.
 */
function otherOrder(name: string, pairs: readonly Pair[], failed: string): Figure {
  let separated = 0
  const swapped: string[] = []
  for (const quick of pairs) {
    for (const slow of pairs) {
      if (slow.machine !== quick.machine || slow.bytes !== quick.bytes) continue
      if (!(slow.simgrid! > 1.1 * quick.simgrid!)) continue
      separated++
      if (quick.ours >= slow.ours)
        swapped.push(`${quick.schedule} < ${slow.schedule}, ${quick.machine} ${bytesText(quick.bytes)}`)
    }
  }
  const figure = summary(name, 'pairs', pairs, swapped.length, 0, failed)
  return { ...figure, separated, ...(swapped.length > 0 ? { shown: swapped.join('; ') } : {}) }
}

function summary(
  name: string,
  unit: string,
  pairs: readonly Pair[],
  value: number,
  target: number | null,
  failed: string,
): Figure {
  const isComplete = pairs.every(({ simgrid }) => simgrid !== null)
  return {
    case: name,
    unit,
    ours: isComplete ? value : null,
    peer: null,
    ratio: null,
    target,
    met: isComplete ? (target === null ? null : value <= target) : false,
    runs: 1,
    cases: pairs.length,
    ...(isComplete ? {} : { failed: failed === '' ? 'SimGrid failed' : failed }),
  }
}
