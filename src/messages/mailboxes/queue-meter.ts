/** The statistics of the searches of one matching queue. */
export interface QueueStatistics {
  /** The number of entries in it now. */
  readonly length: number
  readonly searches: number
  /** The number of searches that found a match. */
  readonly matches: number
  /** The number of entries that searches compared, or put into an index. */
  readonly passed: number
  /** The mean number of entries in the queue when a search began. */
  readonly meanLength: number
  readonly longest: number
  /** The searches by length of the queue: 0, 1, 2 to 3, 4 to 7, ...; up to the last that occurred. */
  readonly byLength: readonly number[]
  /** The milliseconds in searches; each takes one more reading of the clock than it contains. */
  readonly searchMs: number
}

/** The number of classes, since lengths are below 2^32. */
const lengthClasses = 33

/** Counts the searches of one queue with 33 counters, whatever the queue holds. */
export class QueueMeter {
  readonly #byLength = new Float64Array(lengthClasses)
  #searches = 0
  #matches = 0
  #passed = 0
  #lengths = 0
  #longest = 0
  #searchMs = 0

  searched(length: number, passed: number, isMatch: boolean, ms: number): void {
    this.#searches++
    this.#byLength[32 - Math.clz32(length)]++
    this.#lengths += length
    this.#passed += passed
    this.#searchMs += ms
    if (isMatch) this.#matches++
  }

  /**
   * Notes that an entry was added.
   *
   * @param length with it
   */
  grew(length: number): void {
    if (length > this.#longest) this.#longest = length
  }

  statistics(length: number): QueueStatistics {
    const counts = this.#byLength
    return {
      length,
      searches: this.#searches,
      matches: this.#matches,
      passed: this.#passed,
      meanLength: this.#searches === 0 ? 0 : this.#lengths / this.#searches,
      longest: this.#longest,
      byLength: [...counts.subarray(0, counts.findLastIndex((count) => count > 0) + 1)],
      searchMs: this.#searchMs,
    }
  }
}
