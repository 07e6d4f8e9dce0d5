import { wrongValue } from '../../errors.js'
import type { Collective } from '../../schedule/specification.js'
import { checkCall, checkModel, fail, type ModeledCall, modelLimits, requireInteger } from './check-input.js'
import { ceilLg, evaluate, type ModeledAlgorithm, sizesOf, smoothSizesOf, uncutBytes } from './formulas.js'
import { modeledAlgorithmOf, modeledAlgorithms } from './modeled-algorithms.js'
import {
  type CostModel,
  type HockneyTerms,
  type LogGPTerms,
  type PLogP,
  type Terms,
  termsOf,
} from './terms.js'

export interface PredictedCall extends ModeledCall {
  /**
   * The length of a segment; data are cut into as many as needed. Default: one segment, or one of each piece if the
   * algorithm cuts data into pieces. Longer segments count as that. It has no effect on algorithms that cut none.
   */
  readonly segmentBytes?: number
}

/**
 * Returns how long an algorithm takes, by formula: no schedule is made. Messages never share links, and all ranks start
 * together.
 *
 * @param id as in {@link modeledAlgorithms}
 * @returns microseconds; 0 for one rank
 * @throws ERR_ARGUMENT for an unknown id
 * @throws ERR_MODEL for parameters and sizes out of range, and a number of ranks that the algorithm refuses
 * @see Pjesivac-Grbovic 2007 §4.3
 */
export function predictUs(id: string, model: CostModel, call: PredictedCall): number {
  const algorithm = modeledAlgorithmOf(id)
  checkModel(model)
  checkCall(call)
  const { ranks, bytes = 0, segmentBytes = bytes } = call
  if (call.segmentBytes !== undefined) requireInteger('segmentBytes', segmentBytes, 1, modelLimits.bytes)
  if (ranks === 1) return 0
  requireModeledRanks(algorithm, ranks)
  const sizes = sizesOf(ranks, bytes, Math.min(segmentBytes, uncutBytes(algorithm, ranks, bytes)))
  return evaluate(algorithm.time, termsOf(model), sizes) / 1000
}

/** @throws ERR_MODEL for a number of ranks that the algorithm refuses */
function requireModeledRanks(algorithm: ModeledAlgorithm, ranks: number): void {
  const reason = algorithm.refuses?.(ranks) ?? null
  if (reason !== null) fail(`${algorithm.id}: ${reason}`)
}

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
  const known = modeledAlgorithms.filter((row) => row.collective === collective)
  if (known.length === 0) {
    const names = [...new Set(modeledAlgorithms.map((row) => row.collective))]
    const expected = `expected a collective with formulas among ${names.join(', ')}`
    throw wrongValue('ERR_ARGUMENT', expected, collective)
  }
  checkModel(model)
  checkCall(call)
  const { ranks, bytes = 0 } = call
  return known
    .filter(({ id }) => ranks === 1 || (modeledAlgorithmOf(id).refuses?.(ranks) ?? null) === null)
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

/**
 * Returns where a function is least on an interval: the best of the given points inside it, its ends, and one search
 * between each two neighbors. The result is exact if the function has one minimum between neighbors, as formulas have
 * between the sizes of PLogP's tables.
 */
export function leastBetween(
  points: readonly number[],
  low: number,
  high: number,
  time: (at: number) => number,
): number {
  const inside = points.filter((point) => point > low && point < high)
  const bounds = [low, ...inside, high]
  let best = low
  let least = time(low)
  const offer = (at: number): void => {
    const value = time(at)
    if (value < least) {
      least = value
      best = at
    }
  }
  for (let i = 1; i < bounds.length; i++) {
    offer(bounds[i])
    offer(goldenSection(bounds[i - 1], bounds[i], time))
  }
  return best
}

const ratio = (Math.sqrt(5) - 1) / 2

/** Returns where a function with one minimum is least, to a millionth of the interval. @see Kiefer 1953 */
function goldenSection(low: number, high: number, time: (at: number) => number): number {
  const width = (high - low) * 1e-6
  let left = high - ratio * (high - low)
  let right = low + ratio * (high - low)
  let [atLeft, atRight] = [time(left), time(right)]
  while (high - low > width && left < right) {
    if (atLeft <= atRight) {
      high = right
      right = left
      atRight = atLeft
      left = high - ratio * (high - low)
      atLeft = time(left)
    } else {
      low = left
      left = right
      atLeft = atRight
      right = low + ratio * (high - low)
      atRight = time(right)
    }
  }
  return (low + high) / 2
}

/** The lengths of segments where the derivative of a formula is 0, on each side of a maximum, and where sides meet. */
interface SegmentFormulas {
  readonly hockney?: (terms: HockneyTerms, P: number, m: number) => readonly number[]
  readonly loggp?: (terms: LogGPTerms, P: number, m: number) => readonly number[]
}

const { sqrt } = Math
/** The levels of a binary tree less 2: the number of waits for a segment. */
const waits = (P: number): number => ceilLg(P + 1) - 2

/** A chain whose ranks combine, in the model of Hockney. */
const combiningChain: SegmentFormulas['hockney'] = ({ alpha, beta, gamma }, P, m) => [
  sqrt((m * alpha) / ((P - 2) * (beta + gamma))),
]

const reducingChain: SegmentFormulas = {
  hockney: combiningChain,
  loggp: ({ o, g, G, gamma }, P, m) => [
    sqrt((m * (2 * o - G)) / ((P - 2) * (G + gamma))),
    sqrt((m * g) / ((P - 1) * (G + gamma))),
    (g - 2 * o + G) / (G + gamma),
  ],
}

const reducingBinary: SegmentFormulas = {
  hockney: ({ alpha, beta, gamma }, P, m) => [sqrt((m * alpha) / (waits(P) * (beta + gamma)))],
  loggp: ({ o, g, G, gamma }, _, m) => [sqrt((m * (g - G)) / (2 * gamma)), (g - 3 * o) / (2 * gamma)],
}

/** A pass up a binary tree and down again. */
const upAndDownBinary: SegmentFormulas = {
  hockney: ({ alpha, beta, gamma }, P, m) => [sqrt((m * 2 * alpha) / (waits(P) * (2 * beta + gamma)))],
  loggp: ({ o, g, G, gamma }, P, m) => {
    const levels = waits(P) + 1
    const down = o + 2 * (g - G)
    return [
      sqrt((m * (levels * (g - G) + down)) / (2 * levels * gamma + 2 * waits(P) * G)),
      sqrt((m * (levels * (3 * o - G) + down)) / (2 * waits(P) * G)),
      (g - 3 * o) / (2 * gamma),
    ]
  },
}

/**
 * The lengths of segments that may be the best, by algorithm. A length that does not exist is not a number, or
 * infinite; the caller compares the times. Algorithms that are not listed are best without segments in these models.
 *
 * @see Pjesivac-Grbovic 2007 §5.2.2, tables 5.1 to 5.3; docs/cost-models.md#segments
 */
export const segmentFormulas: Readonly<Record<string, SegmentFormulas>> = {
  'bcast-chain': {
    hockney: ({ alpha, beta }, P, m) => [sqrt((m * alpha) / ((P - 2) * beta))],
    loggp: ({ o, g, G }, P, m) => [sqrt((m * (o + g - G)) / ((P - 2) * G))],
  },
  'bcast-binary': {
    hockney: ({ alpha, beta }, P, m) => [sqrt((m * alpha) / (waits(P) * beta))],
    loggp: ({ o, g, G }, P, m) => [sqrt((m * (o + 2 * (g - G))) / (2 * waits(P) * G))],
  },
  'bcast-split-binary': {
    hockney: ({ alpha, beta }, P, m) => [sqrt((m * alpha) / (2 * waits(P) * beta))],
    loggp: ({ o, g, G }, P, m) => [sqrt((m * (o + 2 * (g - G))) / (4 * waits(P) * G))],
  },
  'reduce-linear': {
    loggp: ({ o, g, G, gamma }, P, m) => [
      sqrt((m * (P - 1) * (o - G)) / G),
      sqrt((m * g) / G),
      (g / (P - 1) - o + G) / (G + gamma),
    ],
  },
  'reduce-chain': reducingChain,
  'reduce-binary': reducingBinary,
  'reduce-in-order-binary': reducingBinary,
  'allreduce-binary': upAndDownBinary,
  'allreduce-ring-segmented': {
    hockney: combiningChain,
    loggp: ({ o, g, G, gamma }, P, m) => [
      sqrt((m * (g - G)) / ((P - 2) * G)),
      sqrt((m * (o - G)) / ((P - 2) * G - gamma)),
      (g - o) / gamma,
    ],
  },
  'scan-chain': reducingChain,
  'exscan-chain': reducingChain,
}

export interface SegmentedCall extends ModeledCall {
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
  const algorithm = modeledAlgorithmOf(id)
  checkModel(model)
  checkCall(call)
  const { ranks, bytes = 0, elementBytes = 1 } = call
  requireInteger('elementBytes', elementBytes, 1, modelLimits.bytes)
  if (ranks === 1) return null
  requireModeledRanks(algorithm, ranks)
  const uncut = uncutBytes(algorithm, ranks, bytes)
  if (algorithm.segmented !== true || uncut <= elementBytes) return null
  const terms = termsOf(model)
  const timeOf = (segmentBytes: number): number =>
    evaluate(algorithm.time, terms, sizesOf(ranks, bytes, segmentBytes))
  let best: number | null = null
  let least = timeOf(uncut)
  const offer = (candidate: number): void => {
    if (!Number.isFinite(candidate)) return
    const rounded = Math.max(1, Math.round(candidate / elementBytes)) * elementBytes
    if (rounded >= uncut || timeOf(rounded) >= least) return
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
  algorithm: ModeledAlgorithm,
  model: CostModel,
  terms: Terms,
  ranks: number,
  bytes: number,
  elementBytes: number,
): readonly number[] {
  const formulas = segmentFormulas[algorithm.id]
  if (terms.model === 'hockney') return formulas?.hockney?.(terms, ranks, bytes) ?? []
  if (terms.model === 'loggp') return formulas?.loggp?.(terms, ranks, bytes) ?? []
  const smooth = (segmentBytes: number): number =>
    evaluate(algorithm.time, terms, smoothSizesOf(ranks, bytes, segmentBytes))
  const { sizesBytes } = model as PLogP
  const uncut = uncutBytes(algorithm, ranks, bytes)
  const lengths = [...sizesBytes, leastBetween(sizesBytes, elementBytes, uncut, smooth)].filter(
    (size) => size >= elementBytes && size <= uncut,
  )
  // Some lengths divide the data into equally many segments, the last of which is short. Equal segments cost less.
  const counts = lengths.flatMap((length) => [Math.floor(bytes / length), Math.ceil(bytes / length)])
  const equal = [...new Set([...fewSegments, ...counts])].map((count) => Math.ceil(bytes / count))
  return [...lengths, ...equal]
}

const fewSegments = Array.from({ length: 64 }, (_, i) => i + 1)
