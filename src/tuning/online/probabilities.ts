import { wrongValue } from '../../errors.js'

export interface ProbabilityBounds {
  /**
   * The order of bounds. `projected`: bounds hold afterwards. `literal`: the order of the source, in which dividing by
   * the sum breaks them again. `none`: no bounds.
   */
  readonly kind: 'projected' | 'literal' | 'none'
  /** The least probability. Default 0.03; for more than 33 settings, one by their number. */
  readonly least?: number
  /** The greatest probability. Default 0.5; 1 for one setting. */
  readonly most?: number
}

export const defaultBounds: ProbabilityBounds = { kind: 'projected' }

/**
 * Returns the probability of each setting, in proportion to its weight and within bounds. Weights of 0 get the least.
 *
 * @param weights at least 0 and finite, one above 0; of settings that are chosen among
 * @returns as many numbers, of sum 1
 * @throws ERR_ARGUMENT without weights, and if all are 0
 * @see Steiner 2023 §4.6.2
 */
export function boundedProbabilities(
  weights: ArrayLike<number>,
  { kind, least = 0.03, most = 0.5 }: ProbabilityBounds = defaultBounds,
): Float64Array {
  const count = weights.length
  const shares = Float64Array.from(weights)
  const sum = sumOf(shares)
  if (!(sum > 0) || !Number.isFinite(sum) || shares.some((weight) => !(weight >= 0)))
    throw wrongValue('ERR_ARGUMENT', 'probabilities: expected weights of at least 0, one above 0', shares)
  for (let i = 0; i < count; i++) shares[i] /= sum
  if (kind === 'none') return shares
  const low = Math.min(least, 1 / count)
  const high = Math.max(most, 1 / count)
  const bounded = (scale: number): Float64Array =>
    shares.map((share) => Math.min(high, Math.max(low, scale * share)))
  return divided(bounded(kind === 'literal' ? 1 : scaleOfSumOne(bounded)))
}

/** Returns the scale at which shares within bounds have sum 1. The sum grows with it, from at most 1 to at least 1. */
function scaleOfSumOne(bounded: (scale: number) => Float64Array): number {
  let [low, high] = [0, 1]
  while (sumOf(bounded(high)) < 1 && high < 2 ** 60) high *= 2
  // These halvings suffice for every bit of a double.
  for (let i = 0; i < 120; i++) {
    const middle = (low + high) / 2
    if (middle === low || middle === high) break
    if (sumOf(bounded(middle)) < 1) low = middle
    else high = middle
  }
  return high
}

function divided(values: Float64Array): Float64Array {
  const sum = sumOf(values)
  return values.map((value) => value / sum)
}

function sumOf(values: Float64Array): number {
  let sum = 0
  for (const value of values) sum += value
  return sum
}

/** Returns sums of probabilities up to each place; the last is 1, whatever the rounding. */
export function cumulativeSums(probabilities: ArrayLike<number>): Float64Array {
  const sums = Float64Array.from(probabilities)
  for (let i = 1; i < sums.length; i++) sums[i] += sums[i - 1]
  sums[sums.length - 1] = 1
  return sums
}

/** Returns the first place whose sum is at least `drawn`. Allocates nothing. @param drawn from 0 to 1 */
export function placeOfDraw(sums: Float64Array, drawn: number): number {
  let place = 0
  while (sums[place] < drawn) place++
  return place
}
