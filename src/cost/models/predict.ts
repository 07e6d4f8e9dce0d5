import { checkCall, checkModel, fail, type ModelledCall, modelLimits, requireInteger } from './check-input.js'
import { evaluate, sizesOf } from './evaluate.js'
import type { ModelledAlgorithm } from './modelled-algorithm.js'
import { modelledAlgorithmOf } from './modelled-algorithms.js'
import type { CostModel } from './parameters.js'
import { termsOf } from './terms.js'

export interface PredictedCall extends ModelledCall {
  /**
   * The length of a segment; data are cut into as many as needed. Default: one segment. It has no effect on algorithms
   * that cut none.
   */
  readonly segmentBytes?: number
}

/**
 * Returns how long an algorithm takes, by formula: no schedule is made. Messages never share links, and all ranks start
 * together.
 *
 * @param id as in {@link modelledAlgorithms}
 * @returns microseconds; 0 for one rank
 * @throws ERR_ARGUMENT for an unknown id
 * @throws ERR_MODEL for parameters and sizes out of range, and a number of ranks that the algorithm refuses
 * @see Pjesivac-Grbovic 2007 §4.3
 */
export function predictUs(id: string, model: CostModel, call: PredictedCall): number {
  const algorithm = modelledAlgorithmOf(id)
  checkModel(model)
  checkCall(call)
  const { ranks, bytes = 0, segmentBytes } = call
  if (segmentBytes !== undefined) requireInteger('segmentBytes', segmentBytes, 1, modelLimits.bytes)
  if (ranks === 1) return 0
  requireModelledRanks(algorithm, ranks)
  const sizes = sizesOf(ranks, bytes, segmentBytes ?? bytes)
  return evaluate(algorithm.time, termsOf(model), sizes) / 1000
}

/** @throws ERR_MODEL for a number of ranks that the algorithm refuses */
export function requireModelledRanks(algorithm: ModelledAlgorithm, ranks: number): void {
  const reason = algorithm.refuses?.(ranks) ?? null
  if (reason !== null) fail(`${algorithm.id}: ${reason}`)
}
