import { medianOf } from '../../base/search.js'

/**
 * How often candidates are timed, and which of them wins. In a round every one that is left is timed once.
 */
export interface ComparisonRules {
  /** Rounds before any is ruled out: at least 1. */
  readonly leastRounds: number
  /** Rounds after which one is chosen, whatever is certain by then: at least `leastRounds`. */
  readonly mostRounds: number
  /**
   * A later one of the list has to be faster than an earlier one by this factor, in the median: at least 1.
   */
  readonly tie: number
  /**
   * Standard deviations of a fair coin by which it has to have won rounds against an earlier one: few rounds
   * on a busy machine prove little. 0: the medians alone decide.
   */
  readonly lead: number
}

/** Standard deviations of a fair coin by which rounds are lost before one is ruled out: 7 of 7, 20 of 26. */
const certainty = 2.5

/**
 * Times equivalent candidates in turn until the fastest is known: it decides which runs next, and which wins.
 * Times are paired by round, so that other load on the machine affects all candidates. The result depends on
 * the times alone: ranks that agree on the times agree on the winner. Where the times show no difference, the
 * first candidate wins.
 */
export class TimedComparison {
  readonly #rules: ComparisonRules
  readonly #samples: readonly number[][]
  /** Those that may still be chosen, in order of the list. They have taken part in every round. */
  #left: readonly number[]
  #turn = 0
  #chosen: number | null

  /** @param candidates at least 1, simplest or likeliest first */
  constructor(candidates: number, rules: ComparisonRules) {
    this.#rules = rules
    this.#samples = Array.from({ length: candidates }, () => [])
    this.#left = [...this.#samples.keys()]
    // There is nothing to compare.
    this.#chosen = candidates === 1 ? 0 : null
  }

  /** By candidate, a time for every round that it took part in. */
  get samples(): readonly (readonly number[])[] {
    return this.#samples
  }

  /** Null while any are timed. */
  get chosen(): number | null {
    return this.#chosen
  }

  /** Whose time is to be agreed on next. */
  get next(): number {
    return this.#left[this.#turn]
  }

  /** The time of the next one, in any unit. */
  agree(time: number): void {
    this.#samples[this.next].push(time)
    this.#turn = (this.#turn + 1) % this.#left.length
    if (this.#turn === 0) this.#settle()
  }

  #settle(): void {
    const { leastRounds, mostRounds } = this.#rules
    const rounds = this.#samples[this.#left[0]].length
    if (rounds < leastRounds) return
    const best = this.#best()
    if (rounds < mostRounds) this.#left = this.#left.filter((i) => i === best || !this.#hasLost(i, best))
    if (rounds >= mostRounds || this.#left.length === 1) this.#chosen = best
  }

  /** Who wins by the rounds so far. */
  #best(): number {
    const { tie, lead } = this.#rules
    const median = (i: number) => medianOf(this.#samples[i])
    let [best] = this.#left
    for (const i of this.#left)
      if (tie * median(i) < median(best) && (lead === 0 || this.#leadOf(i, best, 1) >= lead)) best = i
    return best
  }

  /**
   * Whether more rounds are not expected to change that `best` wins: a later one of the list would have to be
   * clearly faster.
   */
  #hasLost(i: number, best: number): boolean {
    const { tie } = this.#rules
    return this.#leadOf(best, i, i < best ? tie : 1 / tie) >= certainty
  }

  /**
   * Standard deviations by which `i` has won more rounds than it has lost against `other`; won: faster by a
   * factor.
   */
  #leadOf(i: number, other: number, factor: number): number {
    const times = this.#samples[other]
    let won = 0
    for (const [round, time] of this.#samples[i].entries()) if (factor * time < times[round]) won++
    return (2 * won - times.length) / Math.sqrt(times.length)
  }
}
