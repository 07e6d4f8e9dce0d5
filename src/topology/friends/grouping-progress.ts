import { requireNotAborted } from '../../base/abort.js'

/** The progress of the search for friend groups. */
export interface GroupingProgress {
  /** The number of completed rounds; 0 with engine `distributed`, where every rank is in its own round. */
  readonly step: number
  /** The number of groups found in all rounds; 0 with engine `distributed`, where each rank knows only its own. */
  readonly groups: number
  /** Searches for the best group of one rank and, with engine `improved`, for better groups of a few ranks. */
  readonly searches: number
  /**
   * `searching`: for the heaviest groups; `improving`: by local search; engine `exact` is `listing` all possible
   * groups, then `solving`.
   */
  readonly activity: 'searching' | 'improving' | 'listing' | 'solving'
  /** The number of possible groups of the round that engine `exact` has listed; 0 with the others. */
  readonly possible: number
}

/** The number of steps between two reports: some milliseconds, so that reports are frequent and cost little. */
const stepsPerReport = 2 ** 22

/**
 * Counts the work of a search, and reports it from inside: a search of one rank alone may take seconds. An
 * aborted signal ends the search where it is reported.
 */
export class ProgressMeter {
  step = 0
  groups = 0
  searches = 0
  activity: GroupingProgress['activity'] = 'searching'
  possible = 0
  #steps = 0
  readonly #onProgress: ((progress: GroupingProgress) => void) | undefined
  readonly #signal: AbortSignal | undefined

  /** @throws ERR_ABORTED when `signal` has been aborted */
  constructor(onProgress?: (progress: GroupingProgress) => void, signal?: AbortSignal) {
    this.#onProgress = onProgress
    this.#signal = signal
    this.#requireNotAborted()
  }

  /** Whether a caller follows the search, or can end it. */
  get isWatched(): boolean {
    return this.#onProgress !== undefined || this.#signal !== undefined
  }

  /** @param steps words of bitsets read, about */
  work(steps: number): void {
    this.#steps += steps
    if (this.#steps < stepsPerReport) return
    this.#steps = 0
    this.report()
  }

  /** @throws ERR_ABORTED when the signal has been aborted; the errors of `onProgress` */
  report(): void {
    this.#requireNotAborted()
    const { step, groups, searches, activity, possible } = this
    this.#onProgress?.({ step, groups, searches, activity, possible })
    this.#requireNotAborted()
  }

  #requireNotAborted(): void {
    requireNotAborted('the search for friend groups', this.#signal)
  }
}
