import type { MatchingCounters, MatchingDesign } from './design.js'

/** The report of a replay about one queue. */
export interface QueueReport extends MatchingCounters {
  /** The elements that were added to it; the others were matched at once. */
  readonly inserted: number
  /** The elements that are left in it. */
  readonly size: number
  /** The most elements at any time. */
  readonly longest: number
  /** The mean number of elements in it after an operation; 0 without any. */
  readonly meanLength: number
}

/** Counts insertions into one queue, and its lengths after each operation of a replay. */
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
