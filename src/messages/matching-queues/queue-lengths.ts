import type { MatchingCounters, MatchingDesign } from './design.js'

/** What a replay says of one queue. */
export interface QueueReport extends MatchingCounters {
  /** Elements that were added to it: the others were matched at once. */
  readonly inserted: number
  /** Elements that are left in it. */
  readonly size: number
  /** Most elements at any time. */
  readonly longest: number
  /** Elements in it after an operation, the mean over all operations; 0 without any. */
  readonly meanLength: number
}

/** Counts insertions into one queue, and how long it is after each operation of a replay. */
export class QueueLengths {
  inserted = 0
  #longest = 0
  #sum = 0

  note(length: number): void {
    if (length > this.#longest) this.#longest = length
    this.#sum += length
  }

  /** @param operations after which a length was noted */
  report(queue: Pick<MatchingDesign, 'counters' | 'size'>, operations: number): QueueReport {
    const meanLength = operations === 0 ? 0 : this.#sum / operations
    const { inserted } = this
    return { ...queue.counters(), inserted, size: queue.size, longest: this.#longest, meanLength }
  }
}
