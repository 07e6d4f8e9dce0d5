/** How far the search for friend groups has come. */
export interface GroupingProgress {
  /** Rounds that are done. With engine `distributed`, where every rank is in its own round, 0. */
  readonly step: number
  /** Groups found in all rounds; with engine `distributed`, where each rank knows its own only, 0. */
  readonly groups: number
  /** Searches for the best group of one rank. */
  readonly searches: number
}

/** Steps between two reports: some milliseconds, so that reports are frequent and cost little. */
const stepsPerReport = 2 ** 22

/** Counts the work of a search, and reports it from inside: a search of one rank alone may take seconds. */
export class ProgressMeter {
  step = 0
  groups = 0
  searches = 0
  #steps = 0
  readonly #report: ((progress: GroupingProgress) => void) | undefined

  constructor(report?: (progress: GroupingProgress) => void) {
    this.#report = report
  }

  /** @param steps words of bitsets read, about */
  work(steps: number): void {
    this.#steps += steps
    if (this.#steps < stepsPerReport) return
    this.#steps = 0
    const { step, groups, searches } = this
    this.#report?.({ step, groups, searches })
  }
}
