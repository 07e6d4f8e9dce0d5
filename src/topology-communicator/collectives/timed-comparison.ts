import { medianOf } from '../../base/search.js'

/**
 * The rules of a comparison: how often candidates are timed, and which of them wins. Each round times every remaining
 * candidate once.
 */
export interface ComparisonRules {
  /** The number of rounds before any is ruled out: at least 1. */
  readonly leastRounds: number
  /** The number of rounds after which one is chosen in any case: at least `leastRounds`. */
  readonly mostRounds: number
  /**
   * The factor by which a later candidate of the list has to be faster than an earlier one, in the median: at least 1.
   */
  readonly tie: number
  /**
   * The standard deviations of a fair coin by which a candidate has to have won rounds against an earlier one: few
   * rounds on a busy machine prove little. With 0 the medians alone decide.
   */
  readonly lead: number
}

/**
 * The standard deviations of a fair coin by which a candidate has lost rounds when it is ruled out: 7 of 7, 20 of 26.
 */
const certainty = 2.5

/**
 * Times equivalent candidates in turn until the fastest is known. It decides which runs next, and which wins. Times are
 * paired by round, so that other load on the machine affects all candidates. The result depends on the times alone:
 * ranks that agree on the times agree on the winner. If the times show no difference, the first candidate wins.
 */
export class TimedComparison {
  readonly #rules: ComparisonRules
  readonly #samples: readonly number[][]
  /** The candidates that may still be chosen, in list order. They have taken part in every round. */
  #left: readonly number[]
  #turn = 0
  #chosen: number | null

  /** @param candidates at least 1, simplest or likeliest first */
  constructor(candidates: number, rules: ComparisonRules) {
    this.#rules = rules
    this.#samples = Array.from({ length: candidates }, () => [])
    this.#left = [...this.#samples.keys()]
    // A single candidate needs no comparison.
    this.#chosen = candidates === 1 ? 0 : null
  }

  /** By candidate, the time of every round in which it took part. */
  get samples(): readonly (readonly number[])[] {
    return this.#samples
  }

  /** The chosen candidate; null while any are timed. */
  get chosen(): number | null {
    return this.#chosen
  }

  /** The candidate whose time is agreed on next. */
  get next(): number {
    return this.#left[this.#turn]
  }

  /** Records the time of the next candidate, in any unit. */
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

  /** Returns the winner of the rounds so far. */
  #best(): number {
    const { tie, lead } = this.#rules
    const median = (i: number) => medianOf(this.#samples[i])
    let [best] = this.#left
    for (const i of this.#left)
      if (tie * median(i) < median(best) && (lead === 0 || this.#leadOf(i, best, 1) >= lead)) best = i
    return best
  }

  /**
   * Whether candidate i is unlikely to win in further rounds. A later one of the list would have to be clearly faster
   * than `best`.
   */
  #hasLost(i: number, best: number): boolean {
    const { tie } = this.#rules
    return this.#leadOf(best, i, i < best ? tie : 1 / tie) >= certainty
  }

  /**
   * Returns the standard deviations by which `i` has won more rounds than it has lost against `other`. It wins a round
   * if it is faster by a factor.
   */
  #leadOf(i: number, other: number, factor: number): number {
    const times = this.#samples[other]
    let won = 0
    for (const [round, time] of this.#samples[i].entries()) if (factor * time < times[round]) won++
    return (2 * won - times.length) / Math.sqrt(times.length)
  }
}
