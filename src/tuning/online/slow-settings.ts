import type { Collective } from '../../schedule/specification.js'
import type { CallHistory } from './learn-runs.js'
import { middleUs, type SizeTimes, timesBySize } from './size-times.js'

/** The number of calls of one size that a setting needs to be compared with others. */
const leastCompared = 7

/** Returns the setting with the least median of those that are compared; 0 and NaN without any. */
export function fastestOf(size: SizeTimes): { readonly fastest: number; readonly fastestUs: number } {
  let [fastest, fastestUs] = [0, Number.NaN]
  for (const [number, medianUs] of comparedMedians(size))
    if (!(medianUs >= fastestUs)) [fastest, fastestUs] = [number, medianUs]
  return { fastest, fastestUs }
}

function comparedMedians({ timesUs }: SizeTimes): (readonly [number: number, medianUs: number])[] {
  return [...timesUs]
    .filter(([, times]) => times.length >= leastCompared)
    .map(([number, times]) => [number, middleUs(times)])
}

/** A setting that was far from the fastest in every size in which it was compared. */
export interface SlowSetting {
  readonly number: number
  /** Its median over that of the fastest setting, in the size where it does best. */
  readonly leastRatio: number
  /** The number of sizes in which it has at least 7 calls. */
  readonly sizes: number
}

/**
 * Returns settings that took at least `factor` times the fastest one in every size in which they are compared, slowest
 * first: candidates for a blacklist.
 *
 * @see Steiner 2023 §4.7
 */
export function slowSettings(sizes: Iterable<SizeTimes>, factor: number): SlowSetting[] {
  const found = new Map<number, { leastRatio: number; sizes: number }>()
  for (const size of sizes) {
    const medians = comparedMedians(size)
    const { fastestUs } = fastestOf(size)
    for (const [number, medianUs] of medians) {
      const known = found.get(number) ?? { leastRatio: Number.POSITIVE_INFINITY, sizes: 0 }
      const leastRatio = Math.min(known.leastRatio, medianUs / fastestUs)
      found.set(number, { leastRatio, sizes: known.sizes + 1 })
    }
  }
  return [...found]
    .map(([number, figures]) => ({ number, ...figures }))
    .filter(({ leastRatio }) => leastRatio >= factor)
    .sort((a, b) => b.leastRatio - a.leastRatio)
}

/** The numbers of settings that are never chosen, by collective. */
export type Blacklists = ReadonlyMap<Collective, ReadonlySet<number>>

/** Returns blacklists with the settings that are slow in the calls so far; without `factor`, the given blacklists. */
export function withSlowSettings(
  history: CallHistory,
  named: Blacklists,
  factor: number | undefined,
): Blacklists {
  if (factor === undefined) return named
  return new Map(
    history.table.collectives.map((collective) => {
      const slow = slowSettings(timesBySize(collective, history.of(collective)), factor)
      return [collective, new Set([...(named.get(collective) ?? []), ...slow.map(({ number }) => number)])]
    }),
  )
}
