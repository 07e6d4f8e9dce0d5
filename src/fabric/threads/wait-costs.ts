/** The ways in which a thread passes a wait that is longer than its first polls. */
export type WaitKind = 'polls' | 'blocks'

/** The time that a longer wait counts as. */
const longestMs = 4
/** The weight of the last wait in the average. */
const weight = 0.5
/** The ratio of times below which blocking is chosen: a thread that blocks leaves its event loop alone for as long. */
const worthwhile = 0.7
/** The number of waits of which one is passed in the other way. */
const waitsPerTrial = 8

/**
 * Chooses whether a thread that waits polls or blocks, by how long the last waits of both kinds took. A peer that needs
 * this thread's core answers sooner if it blocks. One that computes on another core answers as soon, but blocking adds
 * a wake-up.
 */
export class WaitCosts {
  readonly #averageMs = { polls: 0, blocks: 0 }
  /** The kind of every wait that is not a trial. */
  #best: WaitKind = 'polls'
  #waits = 0

  /** Returns how to pass the next wait. */
  next(): WaitKind {
    const isTrial = ++this.#waits % waitsPerTrial === 0
    if (!isTrial) return this.#best
    return this.#best === 'polls' ? 'blocks' : 'polls'
  }

  /** Notes that a wait of that kind is over. */
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
