import { type Interval, medianInterval } from '../base/median-interval.js'
import { medianOf } from '../base/search.js'
import type { ProductTime } from './product-times.js'

/** What the turns of two products show: `no difference seen` where the interval of the ratio includes 1. */
export type Verdict = 'faster' | 'slower' | 'no difference seen'

/** A product compared with another one, turn by turn. */
export interface TurnRatio {
  /** The other product, as {@link ProductTime.name}. */
  readonly name: string
  /** Time of the other over time of this one in the same turn: median of the turns; 2 is twice as fast. */
  readonly ratio: number
  /** 95% interval of that median; null of fewer than 6 turns. */
  readonly interval: Interval | null
  /** Of this product, compared with the other. */
  readonly verdict: Verdict
}

/**
 * Compares the first product with every other. Turns with the same number ran one after the other, so load of
 * other programs affects both times of a ratio.
 */
export function turnRatios(times: readonly ProductTime[]): readonly TurnRatio[] {
  const [first, ...others] = times
  return others.map(({ name, turnSeconds }) => {
    const ratios = turnSeconds.map((seconds, turn) => seconds / first.turnSeconds[turn])
    const interval = medianInterval(ratios)
    return { name, ratio: medianOf(ratios), interval, verdict: verdictOf(interval) }
  })
}

/** The verdict of a ratio, other over this, by its interval. */
export function verdictOf(interval: Interval | null): Verdict {
  if (interval !== null && interval[0] > 1) return 'faster'
  if (interval !== null && interval[1] < 1) return 'slower'
  return 'no difference seen'
}
