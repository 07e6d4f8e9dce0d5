import { formatStrategy, type Strategy } from '../../neighborhood/strategies/strategies.js'
import { TimedComparison } from './timed-comparison.js'
import type { TuneCandidate } from './tune-options.js'

/** A strategy that the first starts of a request tried. */
export interface TunedCandidate {
  /** Its line of text, as `parseStrategy` reads it. */
  readonly strategy: string
  /** The predicted time; absent if nothing is predicted because there is nothing to choose. */
  readonly predictedUs?: number
  /** The time of every timed start that all ranks know, in microseconds: that of the slowest process. */
  readonly measuredUs: readonly number[]
}

/** The findings of a request's starts so far. The same on all ranks, after the same start. */
export interface Tuning {
  /** The candidates, best predicted first. */
  readonly candidates: readonly TunedCandidate[]
  /**
   * The number of timed starts whose time is not agreed on yet. One start after the last of them a candidate is chosen.
   */
  readonly startsLeft: number
  /** The strategy of all later starts; null while some are timed. */
  readonly chosen: string | null
}

/**
 * Decides which candidate a start tries: one after the other, in rounds. A start agrees on the time of the one before
 * it. So one start after the last timed one all processes know all times, and choose the same candidate.
 */
export class Tuner {
  readonly #candidates: readonly TuneCandidate[]
  readonly #timedStarts: number
  readonly #comparison: TimedComparison
  #agreed = 0

  /** @param starts the number of timed starts of every candidate */
  constructor(candidates: readonly TuneCandidate[], starts: number) {
    this.#candidates = candidates
    this.#timedStarts = candidates.length * starts
    // The better predicted candidate wins if times are equal.
    const rules = { leastRounds: starts, mostRounds: starts, tie: 1, lead: 0 }
    this.#comparison = new TimedComparison(candidates.length, rules)
  }

  get strategies(): Strategy[] {
    return this.#candidates.map(({ strategy }) => strategy)
  }

  /** The number of the candidate of all later starts; null while starts are timed. */
  get chosen(): number | null {
    return this.#comparison.chosen
  }

  /** The number of the candidate whose time is agreed on next. */
  get next(): number {
    return this.#comparison.next
  }

  /**
   * Records the time of the last start on which the processes agreed. After the last timed start it chooses a
   * candidate.
   */
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
