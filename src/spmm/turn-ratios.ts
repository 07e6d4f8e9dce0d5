import { type Interval, medianInterval } from '../base/median-interval.js'
import { medianOf } from '../base/search.js'
import type { ProductTime } from './product-times.js'

/** A finding from the turns of two products: `no difference seen` if the interval of the ratio includes 1. */
export type Verdict = 'faster' | 'slower' | 'no difference seen'

/** A product compared with another one, turn by turn. */
export interface TurnRatio {
  /** The other product's {@link ProductTime.name}. */
  readonly name: string
  /** The median over turns of the other's time divided by this product's time in the same turn; 2 is twice as fast. */
  readonly ratio: number
  /** The 95% interval of that median; null for fewer than 6 turns. */
  readonly interval: Interval | null
  /** The verdict on this product, compared with the other. */
  readonly verdict: Verdict
}

/**
 * Compares the first product with every other. Turns with the same number ran one after the other, so load of other
 * programs affects both times of a ratio.
 */
export function turnRatios(times: readonly ProductTime[]): readonly TurnRatio[] {
  const [first, ...others] = times
  return others.map(({ name, turnSeconds }) => {
    const ratios = turnSeconds.map((seconds, turn) => seconds / first.turnSeconds[turn])
    const interval = medianInterval(ratios)
    return { name, ratio: medianOf(ratios), interval, verdict: verdictOf(interval) }
  })
}

/** Returns the verdict for a ratio, other over this, by its interval. */
export function verdictOf(interval: Interval | null): Verdict {
  if (interval !== null && interval[0] > 1) return 'faster'
  if (interval !== null && interval[1] < 1) return 'slower'
  return 'no difference seen'
}
