import { bestNumber } from '../models/decision-grid.js'
import type { CellAxes } from '../settings/call-cells.js'
import { callKey, type TuningCall } from '../settings/tuning-call.js'
import type { CallFile } from './call-file.js'
import { nextProbabilities } from './call-gains.js'
import type { SelectionLogic } from './grid-selection.js'
import { type GridLearning, type LearnedGrid, predictedCallUs } from './learn-grid.js'
import { CallHistory } from './learn-runs.js'
import type { NumberedSettings } from './numbered-settings.js'
import type { Blacklists } from './slow-settings.js'

/** A call whose choice is followed. */
export interface FollowedCall {
  readonly call: TuningCall
  /** Numbers of the settings that may serve it, ascending. */
  readonly drawn: readonly number[]
}

/** What was known of a call after some iterations. */
export interface TrendPoint {
  /** Iterations so far, from 1. */
  readonly after: number
  /** Calls of the collective that this was learned from. */
  readonly calls: number
  /** Number of the best setting; 0 where none is known. */
  readonly best: number
  /** What its regressor predicts for the call, microseconds; NaN where none is known. */
  readonly estimatedUs: number
  /** What runs that explore try next, by number. */
  readonly next: ReadonlyMap<number, number>
}

/** How a call's choice moved from iteration to iteration. */
export interface CallTrend {
  readonly call: TuningCall
  readonly points: readonly TrendPoint[]
}

export interface TrendOptions {
  readonly axes: CellAxes
  readonly learning?: Omit<GridLearning, 'blacklist'>
  /** Settings that are never chosen, by the runs so far. */
  readonly blacklists: (history: CallHistory) => Blacklists
  readonly logic: SelectionLogic
  /** Iterations after which it is learned: all, or so many of them, evenly spaced; at least 2. */
  readonly mostPoints: number
}

/**
 * Learns again what was known after each iteration, as the runs after it did.
 *
 * Time: that of learning, for each point.
 *
 * @see Steiner 2023 §5.4.3, fig. 5.10b
 */
export function learningTrend(
  iterations: readonly (readonly CallFile[])[],
  table: NumberedSettings,
  followed: readonly FollowedCall[],
  { axes, learning = {}, blacklists, logic, mostPoints }: TrendOptions,
): CallTrend[] {
  const history = new CallHistory(table)
  const wanted = new Set(spacedPlaces(iterations.length, mostPoints))
  const points = new Map(followed.map(({ call }) => [callKey(call), [] as TrendPoint[]]))
  for (const [i, runs] of iterations.entries()) {
    for (const run of runs) history.add(run)
    if (!wanted.has(i)) continue
    const grids = history.learn(axes, { ...learning, hasPerformances: true }, blacklists(history))
    for (const { call, drawn } of followed) {
      const learned = grids.get(call.collective)!
      points.get(callKey(call))!.push({ after: i + 1, ...pointOf(learned, call, drawn, logic) })
    }
  }
  return followed.map(({ call }) => ({ call, points: points.get(callKey(call))! }))
}

function pointOf(
  learned: LearnedGrid,
  call: TuningCall,
  drawn: readonly number[],
  logic: SelectionLogic,
): Omit<TrendPoint, 'after'> {
  const { grid, regressors } = learned
  const { bytes, nodes, processesPerNode } = call
  const best = grid.isTrained ? bestNumber(grid, bytes, nodes, processesPerNode) : 0
  const regressor = regressors[best - 1]
  return {
    calls: learned.calls.reduce((sum, count) => sum + count, 0),
    best,
    estimatedUs:
      regressor === undefined ? Number.NaN : predictedCallUs(regressor, bytes, nodes, processesPerNode),
    next: nextProbabilities(learned, logic, call, drawn),
  }
}

/** Places 0 to `count - 1`, at most so many, evenly spaced with the first and the last. */
function spacedPlaces(count: number, most: number): number[] {
  if (count <= most) return Array.from({ length: count }, (_, i) => i)
  return Array.from({ length: most }, (_, i) => Math.round((i * (count - 1)) / (most - 1)))
}
