import { RankweaveError, wrongValue } from '../../errors.js'
import { callProcesses } from '../settings/tuning-call.js'
import { type MeasuredData, selectCalls } from './measured-data.js'
import { type PenaltyReport, penaltyOf, penaltyOfRow, penaltyReport } from './penalty.js'
import type { SettingSelector } from './selector.js'

/** A function that learns decisions from a data set. */
export type DecisionLearner = (data: MeasuredData) => SettingSelector

export interface HeldOutOptions {
  /**
   * The number of parts of the numbers of processes, 2 to their number. Default: 5, or as many as there are numbers.
   */
  readonly folds?: number
  /** Decides when the chosen setting has no time. Default: the call counts as missing. */
  readonly fallback?: SettingSelector
}

export interface HeldOutReport {
  /** The penalty of decisions learned from all data, on the same data, which the source reports. */
  readonly training: PenaltyReport
  /** The penalty of decisions for every call, learned without its number of processes. */
  readonly heldOut: PenaltyReport
  readonly folds: readonly HeldOutFold[]
}

export interface HeldOutFold {
  /** The numbers of processes that were held out, ascending. */
  readonly processes: readonly number[]
  readonly training: PenaltyReport
  readonly heldOut: PenaltyReport
}

/**
 * Compares the penalty of decisions on calls from which they were not learned with that on calls from which they were.
 *
 * The i-th number of processes, ascending from 0, belongs to fold i mod folds. So neighbors are in different folds, and
 * the least and the greatest number test what lies outside the grid.
 *
 * @throws ERR_TUNING for fewer than 2 numbers of processes
 * @throws ERR_ARGUMENT for folds out of range
 */
export function heldOutPenalty(
  data: MeasuredData,
  learn: DecisionLearner,
  options: HeldOutOptions = {},
): HeldOutReport {
  const counts = [...new Set(data.calls.map(callProcesses))].sort((a, b) => a - b)
  if (counts.length < 2) {
    const message = `expected calls of at least 2 numbers of processes, got ${counts.length}`
    throw new RankweaveError('ERR_TUNING', message)
  }
  const { folds = Math.min(defaultFolds, counts.length), fallback } = options
  if (!Number.isInteger(folds) || folds < 2 || folds > counts.length)
    throw wrongValue('ERR_ARGUMENT', `expected folds as an integer from 2 to ${counts.length}`, folds)
  const foldOf = new Map(counts.map((count, i) => [count, i % folds]))
  const percents = data.calls.map(() => Number.NaN)
  const reports = Array.from({ length: folds }, (_, fold): HeldOutFold => {
    const training = selectCalls(data, (call) => foldOf.get(callProcesses(call)) !== fold)
    const select = learn(training)
    const rows = [...data.calls.keys()].filter((row) => foldOf.get(callProcesses(data.calls[row])) === fold)
    for (const row of rows) percents[row] = penaltyOfRow(data, row, select, fallback)
    return {
      processes: counts.filter((count) => foldOf.get(count) === fold),
      training: penaltyOf(training, select, fallback),
      heldOut: penaltyReport(
        data,
        rows,
        rows.map((row) => percents[row]),
      ),
    }
  })
  return {
    training: penaltyOf(data, learn(data), fallback),
    heldOut: penaltyReport(data, [...data.calls.keys()], percents),
    folds: reports,
  }
}

const defaultFolds = 5
