import type { Strategy } from '../../neighborhood/strategies/strategy.js'
import { formatStrategy } from '../../neighborhood/strategies/strategy-text.js'
import { TimedComparison } from './timed-comparison.js'
import type { TuneCandidate } from './tune-options.js'

/** A strategy that was tried. */
export interface TunedCandidate {
  /** Its line of text, as `parseStrategy` reads it. */
  readonly strategy: string
  /** Absent where nothing is predicted, because there is nothing to choose. */
  readonly predictedUs?: number
  /** Of every timed start that all ranks know of, microseconds: that of the slowest process. */
  readonly measuredUs: readonly number[]
}

/** What the starts of a request have found so far. The same on all ranks, after the same start. */
export interface Tuning {
  /** Best predicted first. */
  readonly candidates: readonly TunedCandidate[]
  /** Timed starts whose time is not agreed on yet; one start after the last, one is chosen. */
  readonly startsLeft: number
  /** The strategy of all later starts; null while some are timed. */
  readonly chosen: string | null
}

/**
 * Which candidate a start tries: one after the other, then again. A start agrees on the time of the one
 * before it, so one start after the last timed one all processes know all times, and choose the same.
 */
export class Tuner {
  readonly #candidates: readonly TuneCandidate[]
  readonly #timedStarts: number
  readonly #comparison: TimedComparison
  #agreed = 0

  /** @param starts timed ones of every candidate */
  constructor(candidates: readonly TuneCandidate[], starts: number) {
    this.#candidates = candidates
    this.#timedStarts = candidates.length * starts
    // Of equal times that of the better predicted one.
    const rules = { leastRounds: starts, mostRounds: starts, tie: 1, lead: 0 }
    this.#comparison = new TimedComparison(candidates.length, rules)
  }

  get strategies(): Strategy[] {
    return this.#candidates.map(({ strategy }) => strategy)
  }

  /** The number of the candidate of all starts from now on; null while starts are timed. */
  get chosen(): number | null {
    return this.#comparison.chosen
  }

  /** The number of the candidate whose time is to be agreed on next. */
  get next(): number {
    return this.#comparison.next
  }

  /** What the processes have agreed on for the last start. After the last timed one a candidate is chosen. */
  agree(timeUs: number): void {
    this.#comparison.agree(timeUs)
    this.#agreed++
  }

  get report(): Tuning {
    const { chosen, samples } = this.#comparison
    return {
      candidates: this.#candidates.map(({ strategy, predictedUs }, i) => ({
        strategy: formatStrategy(strategy),
        ...(predictedUs === undefined ? {} : { predictedUs }),
        measuredUs: samples[i].slice(),
      })),
      startsLeft: chosen === null ? this.#timedStarts - this.#agreed : 0,
      chosen: chosen === null ? null : formatStrategy(this.#candidates[chosen].strategy),
    }
  }
}
