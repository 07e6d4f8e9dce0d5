import { checkCall, checkModel, type ModelledCall, modelLimits, requireInteger } from './check-input.js'
import { evaluate, sizesOf, smoothSizesOf } from './evaluate.js'
import type { ModelledAlgorithm } from './modelled-algorithm.js'
import { modelledAlgorithmOf } from './modelled-algorithms.js'
import type { CostModel, PLogP } from './parameters.js'
import { requireModelledRanks } from './predict.js'
import { segmentFormulas } from './segment-formulas.js'
import { leastBetween } from './segment-search.js'
import { type Terms, termsOf } from './terms.js'

export interface SegmentedCall extends ModelledCall {
  /** The unit of which segments are multiples. Default 1. */
  readonly elementBytes?: number
}

/**
 * Returns the length of segments with which an algorithm is fastest. It is near the closed form for Hockney, LogP and
 * LogGP, and found by a search through the tables for PLogP.
 *
 * @returns bytes, or null if it is fastest without segments
 * @throws as {@link predictUs}
 * @see Pjesivac-Grbovic 2007 §5.2.2
 */
export function optimalSegmentBytes(id: string, model: CostModel, call: SegmentedCall): number | null {
  const algorithm = modelledAlgorithmOf(id)
  checkModel(model)
  checkCall(call)
  const { ranks, bytes = 0, elementBytes = 1 } = call
  requireInteger('elementBytes', elementBytes, 1, modelLimits.bytes)
  if (ranks === 1) return null
  requireModelledRanks(algorithm, ranks)
  if (algorithm.segmented !== true || bytes <= elementBytes) return null
  const terms = termsOf(model)
  const timeOf = (segmentBytes: number): number =>
    evaluate(algorithm.time, terms, sizesOf(ranks, bytes, segmentBytes))
  let best: number | null = null
  let least = timeOf(bytes)
  const offer = (candidate: number): void => {
    if (!Number.isFinite(candidate)) return
    const rounded = Math.max(1, Math.round(candidate / elementBytes)) * elementBytes
    if (rounded >= bytes || timeOf(rounded) >= least) return
    least = timeOf(rounded)
    best = rounded
  }
  for (const length of candidates(algorithm, model, terms, ranks, bytes, elementBytes)) {
    offer(length)
    // The closed forms take numbers of segments that are not whole. The nearest whole numbers are best; even ones if
    // each half of the ranks takes every second segment. Segments are equal, because a short last one costs as much as
    // a long one. Where a message costs no time of its own, the closed form is 0.
    const segments = Math.floor(bytes / Math.max(elementBytes, length))
    for (let count = Math.max(1, segments - 1); count <= segments + 2; count++)
      offer(Math.ceil(bytes / count / elementBytes) * elementBytes)
  }
  return best
}

function candidates(
  { id, time }: ModelledAlgorithm,
  model: CostModel,
  terms: Terms,
  ranks: number,
  bytes: number,
  elementBytes: number,
): readonly number[] {
  const formulas = segmentFormulas[id]
  if (terms.model === 'hockney') return formulas?.hockney?.(terms, ranks, bytes) ?? []
  if (terms.model === 'loggp') return formulas?.loggp?.(terms, ranks, bytes) ?? []
  const smooth = (segmentBytes: number): number =>
    evaluate(time, terms, smoothSizesOf(ranks, bytes, segmentBytes))
  const { sizesBytes } = model as PLogP
  const lengths = [...sizesBytes, leastBetween(sizesBytes, elementBytes, bytes, smooth)].filter(
    (size) => size >= elementBytes && size <= bytes,
  )
  // Some lengths divide the data into equally many segments, the last of which is short. Equal segments cost less.
  const counts = lengths.flatMap((length) => [Math.floor(bytes / length), Math.ceil(bytes / length)])
  const equal = [...new Set([...fewSegments, ...counts])].map((count) => Math.ceil(bytes / count))
  return [...lengths, ...equal]
}

const fewSegments = Array.from({ length: 64 }, (_, i) => i + 1)
