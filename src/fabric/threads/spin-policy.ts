import { performance } from 'node:perf_hooks'

/**
 * The times for which a waiting process polls before it sleeps: without pause at first, then for a while in every turn
 * of the event loop. A wake-up costs up to 0.1 ms if the core has to wake too; a process that slept sooner would be
 * asleep again whenever its peer has just been woken. Processes that share cores would delay each other, so they block
 * instead. The sender of a frame wakes the thread itself, in a tenth of the time that a message to its event loop
 * takes.
 */
const dedicatedCore = { spinMs: 0.05, turnMs: 0.02, activePollingMs: 1, blockMs: 0 } as const
const sharedCore = { spinMs: 0.005, turnMs: 0, activePollingMs: 0.1, blockMs: 1 } as const
/** The blocked time after which the event loop gets its turn. */
const blockedPerTurnMs = 4
/** The time between two polls that shows that another process had the core: a poll takes nanoseconds. */
const preemptedMs = 0.5
/** The time for which the thread then blocks instead of polling. */
const preemptedBlocksMs = 20
/** The number of polls between two readings of the clock. */
const pollsPerClock = 16

/** Decides when one process stops polling; it adapts to preemption, and to what made its last waits shorter. */
export class SpinPolicy {
  readonly #isOversubscribed: boolean
  readonly #moved: () => number
  readonly #costs = new WaitCosts()
  /** The time until which the thread blocks, because another thread had the core while this one polled. */
  #preemptedUntil = 0
  /** The blocked time since the last turn of the event loop. */
  #blockedMs = 0
  /** The time when the wait in progress began, if the first polls did not end it; else 0. */
  #waitBegan = 0
  #wait: WaitKind = 'polls'
  /** Whether its cost is noted: while polling is best, only that of waits that outlast a spin. */
  #isNoted = false

  /**
   * @param oversubscribed whether there are more processes than cores
   * @param moved how many records polls have moved so far
   */
  constructor(oversubscribed: boolean, moved: () => number = () => 0) {
    this.#isOversubscribed = oversubscribed
    this.#moved = moved
  }

  /** Returns for how long an idle process polls in every turn of the event loop after a frame came. */
  activePollingMs(now: number): number {
    return this.#limits(now).activePollingMs
  }

  /**
   * The time for which the thread may block now, its event loop included; 0 if spinning takes the core from no other
   * thread.
   */
  get blockMs(): number {
    if (this.#blockedMs >= blockedPerTurnMs) return 0
    return this.#isOversubscribed || this.#wait === 'blocks' ? sharedCore.blockMs : 0
  }

  /** Notes that the thread has blocked since `begin`. */
  blockedSince(begin: number): void {
    this.#blockedMs += performance.now() - begin
  }

  /** Notes that the event loop has its turn. */
  turn(): void {
    this.#blockedMs = 0
  }

  /** Ends the wait in progress. */
  came(): void {
    if (this.#waitBegan === 0) return
    if (this.#isNoted) this.#costs.took(this.#wait, performance.now() - this.#waitBegan)
    this.#waitBegan = 0
    this.#isNoted = false
    this.#wait = this.#costs.best
  }

  /**
   * Polls without pause; true as soon as a poll was successful.
   *
   * @param poll polls that many times, or until it is successful
   */
  spin(poll: (times: number) => boolean): boolean {
    // A frame that comes at once does not wait for the clock to be read.
    if (poll(pollsPerClock)) return true
    const now = performance.now()
    if (this.#waitBegan === 0) {
      this.#waitBegan = now
      if (this.#costs.best === 'blocks') this.#beginNoted()
    }
    if (this.#pollUntil(now, now + this.#limits(now).spinMs, poll)) return true
    if (!this.#isNoted) this.#beginNoted()
    if (now < this.#preemptedUntil) this.#wait = 'blocks'
    return false
  }

  #beginNoted(): void {
    this.#isNoted = true
    this.#wait = this.#costs.next()
  }

  /** Spins in a turn of the event loop. */
  spinInTurn(poll: (times: number) => boolean): boolean {
    if (poll(pollsPerClock)) return true
    const now = performance.now()
    return this.#pollUntil(now, now + this.#limits(now).turnMs, poll)
  }

  #limits(now: number): typeof dedicatedCore | typeof sharedCore {
    const isShared = this.#isOversubscribed || now < this.#preemptedUntil || this.#wait === 'blocks'
    return isShared ? sharedCore : dedicatedCore
  }

  #pollUntil(begin: number, until: number, poll: (times: number) => boolean): boolean {
    for (let before = begin; ; ) {
      const moved = this.#moved()
      if (poll(pollsPerClock)) return true
      const now = performance.now()
      // Polls that copy parts of a long message take as long as another process would.
      const isPreempted = now - before > preemptedMs && this.#moved() === moved
      if (isPreempted) this.#preemptedUntil = now + preemptedBlocksMs
      if (now >= until) return false
      before = now
    }
  }
}

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
