import { type Interval, medianInterval, medianOf } from '../base/search.js'

/** The times of two runs of a program that took turns, in seconds: as it is started today, and with a change. */
export interface RunPair {
  readonly today: number
  readonly changed: number
}

/** The gain of a change: how many times as fast it makes a program, by pairs of runs. */
export interface Gain {
  readonly pairs: number
  /** The median of the pairs' ratios, time of today over time with the change. */
  readonly ratio: number
  /**
   * Holds the median with a chance of at least 95%, however often the comparison looked at it before it ended; null for
   * too few pairs.
   */
  readonly interval: Interval | null
}

/**
 * The finding of pairs of runs. `faster` and `slower`: the interval lies beyond {@link leastGain}, or below 1 over it. `same`:
 * it lies below {@link leastGain}, or around it and is narrow. `open`: it does not say yet.
 */
export type Finding = 'faster' | 'slower' | 'same' | 'open'

/** A change that gains less is not worth a longer command line. */
export const leastGain = 1.03

/** @param mostOutside the largest chance that the interval misses the median */
export function gainOf(pairs: readonly RunPair[], mostOutside = 0.05): Gain {
  const ratios = pairs.map(({ today, changed }) => today / changed)
  return { pairs: pairs.length, ratio: medianOf(ratios), interval: medianInterval(ratios, mostOutside) }
}

/**
 * Returns the numbers of pairs after which a comparison looks at its interval: 11, then about 1.4 times as many, and the
 * most. Each look may miss the median, so there are few of them, and they share the 5%.
 */
export function looksOf(mostPairs: number): readonly number[] {
  const looks: number[] = []
  for (let pairs = fewestPairs; pairs < mostPairs; pairs = Math.round(pairs * Math.SQRT2)) looks.push(pairs)
  return [...looks, mostPairs]
}

/** Intervals narrower than this share of the median end a comparison. */
const narrow = 0.04
/** The pairs before the first look. */
const fewestPairs = 11

export function findingOf(gain: Gain): Finding {
  if (gain.interval === null) return 'open'
  const [low, high] = gain.interval
  if (low > leastGain) return 'faster'
  if (high < 1 / leastGain) return 'slower'
  return high < leastGain || isNarrow(gain) ? 'same' : 'open'
}

/**
 * Returns whether further pairs would not change what is said of a change: the interval is narrower than 4% of the
 * median, or lies on one side of {@link leastGain}.
 */
export function isDecided(gain: Gain): boolean {
  return isNarrow(gain) || findingOf(gain) !== 'open'
}

function isNarrow({ interval, ratio }: Gain): boolean {
  return interval !== null && interval[1] - interval[0] < narrow * ratio
}

/** The bounds of a comparison. */
export interface ComparisonBounds {
  readonly mostPairs: number
  /** Returns whether another pair is expected to end in time. */
  hasTime(): boolean
  /** Returns whether the time is over, so that the second run of a pair does not begin. Default: it never is. */
  isOver?(): boolean
  /** Is called after every pair. */
  onPair?(gain: Gain): void
}

/**
 * Compares a program with and without a change by runs in pairs, which take turns in who is first. Returns null if
 * there is no time for a pair.
 *
 * A comparison that ran out of time continues if it is called again with the same pairs. Until it does so or is given
 * up, nobody may judge its gain: only the end of all time is a look.
 *
 * @param run Runs the program and returns its time in seconds.
 * @param pairs the pairs so far, to which the comparison adds
 */
export async function comparedRuns(
  run: (isChanged: boolean) => Promise<number>,
  { mostPairs, hasTime, isOver = () => false, onPair }: ComparisonBounds,
  pairs: RunPair[] = [],
): Promise<Gain | null> {
  // The end of the time is one more look.
  const mostOutside = 0.05 / (looksOf(mostPairs).length + 1)
  let gain = pairs.length === 0 ? null : gainOf(pairs, mostOutside)
  while (!isComplete(gain, mostPairs) && hasTime()) {
    const changedFirst = pairs.length % 2 === 1
    const first = await run(changedFirst)
    if (isOver()) break
    const second = await run(!changedFirst)
    const [today, changed] = changedFirst ? [second, first] : [first, second]
    pairs.push({ today, changed })
    gain = gainOf(pairs, mostOutside)
    onPair?.(gain)
  }
  return gain
}

/** Returns whether a comparison has all its pairs, or was decided by a look at this number of pairs. */
export function isComplete(gain: Gain | null, mostPairs: number): boolean {
  if (gain === null) return false
  return gain.pairs >= mostPairs || (looksOf(mostPairs).includes(gain.pairs) && isDecided(gain))
}
