import { wrongValue } from '../../errors.js'

/**
 * Returns the errors that a leaf with these training cases is expected to make of as many new ones. They are `cases`
 * times the upper limit of the share of errors, at a confidence of `confidencePercent`. The limit is the exact binomial
 * one: the share at which at most `errors` of `cases` fail with that probability.
 *
 * Release 8 of C4.5, and J48, approximate it if there are errors: 2.40 of (8, 1).
 *
 * 1.309 of (12, 0), 2.42 of (8, 1), 1.377 of (100, 0) at 25%.
 *
 * @param errors an integer from 0 to `cases`
 * @param confidencePercent above 0, at most 50; lower is more pessimistic
 * @throws ERR_ARGUMENT for a confidence out of range
 * @see Pjesivac-Grbovic 2007 §5.4; Quinlan 1993 §4.2
 */
export function pessimisticErrors(cases: number, errors: number, confidencePercent: number): number {
  requireConfidence(confidencePercent)
  const confidence = confidencePercent / 100
  if (cases === 0) return 0
  if (errors === 0) return cases * (1 - confidence ** (1 / cases))
  if (errors >= cases) return cases
  // The limit is not below the observed share: there, half of all samples or more have as many errors.
  let [low, high] = [errors / cases, 1]
  const wanted = Math.log(confidence) - logBinomial(cases, errors)
  for (let step = 0; step < mostSteps; step++) {
    const middle = (low + high) / 2
    if (middle <= low || middle >= high) break
    if (logOfSum(errors, cases, middle) > wanted) low = middle
    else high = middle
  }
  return (cases * (low + high)) / 2
}

/** @throws ERR_ARGUMENT unless above 0 and at most 50 */
export function requireConfidence(percent: number): void {
  if (percent > 0 && percent <= 50) return
  throw wrongValue('ERR_ARGUMENT', 'expected confidencePercent above 0 and at most 50', percent)
}

/** Halvings that leave no double between both ends. */
const mostSteps = 64

/**
 * Returns the logarithm of the probability of at most `errors`, divided by the binomial coefficient. It serves shares
 * of at least `errors / cases`, at which terms shrink from the last one down.
 */
function logOfSum(errors: number, cases: number, share: number): number {
  const odds = (1 - share) / share
  let term = 1
  let sum = 1
  for (let i = errors; i > 0 && term > sum * 1e-17; i--) {
    term *= (i / (cases - i + 1)) * odds
    sum += term
  }
  return errors * Math.log(share) + (cases - errors) * Math.log1p(-share) + Math.log(sum)
}

function logBinomial(n: number, k: number): number {
  let sum = 0
  for (let i = 1; i <= Math.min(k, n - k); i++) sum += Math.log((n - i + 1) / i)
  return sum
}
