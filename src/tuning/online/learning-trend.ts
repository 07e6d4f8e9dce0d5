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
  /** The numbers of the settings that may serve it, ascending. */
  readonly drawn: readonly number[]
}

/** The knowledge about a call after some iterations. */
export interface TrendPoint {
  /** The number of iterations so far, from 1. */
  readonly after: number
  /** The number of calls of the collective from which this was learned. */
  readonly calls: number
  /** The number of the best setting; 0 if none is known. */
  readonly best: number
  /** The microseconds that its regressor predicts for the call; NaN if no setting is known. */
  readonly estimatedUs: number
  /** The probabilities of settings in the next runs that explore, by number. */
  readonly next: ReadonlyMap<number, number>
}

/** The choices for a call from iteration to iteration. */
export interface CallTrend {
  readonly call: TuningCall
  readonly points: readonly TrendPoint[]
}

export interface TrendOptions {
  readonly axes: CellAxes
  readonly learning?: Omit<GridLearning, 'blacklist'>
  /** Returns the settings that are never chosen, by the runs so far. */
  readonly blacklists: (history: CallHistory) => Blacklists
  readonly logic: SelectionLogic
  /** The most iterations after which it is learned, evenly spaced among all; at least 2. */
  readonly mostPoints: number
}

/**
 * Learns again after each iteration, as the runs after it did.
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

/** Returns places 0 to `count - 1`, at most so many, evenly spaced with the first and the last. */
function spacedPlaces(count: number, most: number): number[] {
  if (count <= most) return Array.from({ length: count }, (_, i) => i)
  return Array.from({ length: most }, (_, i) => Math.round((i * (count - 1)) / (most - 1)))
}
