import { wrongValue } from '../../errors.js'
import type { Collective } from '../../schedule/specification.js'
import { checkCall, checkModel } from './check-input.js'
import { modelledAlgorithmOf, modelledAlgorithms } from './modelled-algorithms.js'
import type { CostModel } from './parameters.js'
import { predictUs } from './predict.js'
import { optimalSegmentBytes, type SegmentedCall } from './segment-size.js'

/** The predicted time of an algorithm. */
export interface ModelPrediction {
  readonly algorithm: string
  readonly timeUs: number
  /** The best length of segments; null without segments. */
  readonly segmentBytes: number | null
  /** The number of segments of that length; 1 without segments. */
  readonly segments: number
}

/**
 * Returns all algorithms of a collective that serve a number of ranks, each with its best segments, fastest first.
 *
 * @throws ERR_ARGUMENT for a collective without a formula
 * @throws ERR_MODEL for parameters and sizes out of range
 */
export function predictAlgorithms(
  collective: Collective,
  model: CostModel,
  call: SegmentedCall,
): readonly ModelPrediction[] {
  const known = modelledAlgorithms.filter((row) => row.collective === collective)
  if (known.length === 0) {
    const names = [...new Set(modelledAlgorithms.map((row) => row.collective))]
    const expected = `expected a collective with formulas among ${names.join(', ')}`
    throw wrongValue('ERR_ARGUMENT', expected, collective)
  }
  checkModel(model)
  checkCall(call)
  const { ranks, bytes = 0 } = call
  return known
    .filter(({ id }) => ranks === 1 || (modelledAlgorithmOf(id).refuses?.(ranks) ?? null) === null)
    .map(({ id }) => {
      const segmentBytes = optimalSegmentBytes(id, model, call)
      const timeUs = predictUs(id, model, {
        ranks,
        bytes,
        ...(segmentBytes === null ? {} : { segmentBytes }),
      })
      const segments = segmentBytes === null ? 1 : Math.ceil(bytes / segmentBytes)
      return { algorithm: id, timeUs, segmentBytes, segments }
    })
    .sort((a, b) => a.timeUs - b.timeUs)
}
