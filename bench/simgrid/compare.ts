import { simulate } from '../../src/cost/simulate/simulate.js'
import { lower } from '../../src/schedule/lower/lower.js'
import { upTo } from '../../src/schedule/specification.js'
import type { BenchOptions, Figure } from '../bench.js'
import { bytesText } from '../message-plans.js'
import {
  type Comparison,
  clusterComparisons,
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

/** Simulated times compared with those of SimGrid, which moves the data. */
export async function* compareWithSimgrid({ quick = false }: BenchOptions): AsyncIterable<Figure> {
  const missing = missingSimgrid()
  const simgrid = missing === null ? new Simgrid() : null
  const failed = missing ?? ''
  try {
    const clusters = quick ? quickComparisons.clusters : clusterComparisons
    const networks = quick ? quickComparisons.networks : networkComparisons
    const onClusters = yield* pairsOf(clusters, simgrid, failed)
    yield meanError('clusters: mean error of simulated times', onClusters, 15, failed)
    yield largestError('clusters: largest error', onClusters, failed)
    yield otherOrder('clusters: pairs that SimGrid separates by > 10%, in another order', onClusters, failed)
    const onNetworks = yield* pairsOf(networks, simgrid, failed)
    yield meanError('torus and tapered Clos: mean error of simulated times', onNetworks, 25, failed)
    yield largestError('torus and tapered Clos: largest error', onNetworks, failed)
    yield otherOrder(
      'torus and tapered Clos: pairs that SimGrid separates by > 10%, in another order',
      onNetworks,
      failed,
    )
  } finally {
    simgrid?.close()
  }
}

async function* pairsOf(
  comparisons: readonly Comparison[],
  simgrid: Simgrid | null,
  missing: string,
): AsyncGenerator<Figure, readonly Pair[]> {
  const pairs: Pair[] = []
  for (const comparison of comparisons) {
    const { machine, schedules } = prepare(comparison)
    for (const [s, schedule] of schedules.entries()) {
      const { ranks } = schedule.specification
      const lowered = lower(schedule, upTo(ranks))
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
        const pair = {
          machine: comparison.machine,
          schedule: comparison.schedules[s],
          bytes,
          ours,
          simgrid: times[i],
        }
        pairs.push(pair)
        yield pairFigure(pair, ranks, wallMs, simgrid?.version ?? null, failed)
      }
    }
  }
  return pairs
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

function largestError(name: string, pairs: readonly Pair[], failed: string): Figure {
  const largest = pairs.reduce((most, pair) =>
    Math.abs(errorOf(pair)) > Math.abs(errorOf(most)) ? pair : most,
  )
  const shown = `${largest.machine} ${largest.schedule} ${bytesText(largest.bytes)}`
  return { ...summary(name, '%', pairs, errorOf(largest), null, failed), of: shown }
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
