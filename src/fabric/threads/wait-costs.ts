/** How a thread passes a wait that is longer than its first polls. */
export type WaitKind = 'polls' | 'blocks'

/** A longer wait counts as this long. */
const longestMs = 4
/** Part of the average that the last wait is. */
const weight = 0.5
/** Blocking has to be that much shorter: a thread that blocks leaves its event loop alone for as long. */
const worthwhile = 0.7
/** One wait of so many is passed in the other way. */
const waitsPerTrial = 8

/**
 * Whether a thread that waits had better poll or block, by how long the last waits of both kinds took. A peer
 * that needs this thread's core answers sooner when it blocks; one that computes on another core answers as soon,
 * but blocking adds a wake-up.
 */
export class WaitCosts {
  readonly #averageMs = { polls: 0, blocks: 0 }
  /** What a wait is passed with unless it is a trial. */
  #best: WaitKind = 'polls'
  #waits = 0

  /** What to do in the next wait. */
  next(): WaitKind {
    const isTrial = ++this.#waits % waitsPerTrial === 0
    if (!isTrial) return this.#best
    return this.#best === 'polls' ? 'blocks' : 'polls'
  }

  /** A wait of that kind is over. */
  took(kind: WaitKind, milliseconds: number): void {
    const average = this.#averageMs
    const last = Math.min(milliseconds, longestMs)
    average[kind] = average[kind] === 0 ? last : average[kind] + weight * (last - average[kind])
    if (average.polls === 0 || average.blocks === 0) return
    this.#best = average.blocks < worthwhile * average.polls ? 'blocks' : 'polls'
  }

  get best(): WaitKind {
    return this.#best
  }
}
