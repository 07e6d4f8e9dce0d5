import { performance } from 'node:perf_hooks'
import { SharedCores } from './shared-cores.js'

/**
 * The times for which a waiting process polls before it sleeps: without pause at first, then for a while in every turn
 * of the event loop. A wake-up costs up to 0.1 ms if the core has to wake too; a process that slept sooner would be
 * asleep again whenever its peer has just been woken. Processes that share cores would delay each other, so they block
 * instead. The sender of a frame wakes the thread itself, in a tenth of the time that a message to its event loop
 * takes.
 */
const ownCore = { spinMs: 0.05, turnMs: 0.02, activePollingMs: 1 } as const
const sharedCore = {
  spinMs: 0,
  turnMs: 0,
  activePollingMs: 4,
  // A shorter one expires before the next tick of Linux: virtual machines take microseconds to arm such a timer.
  blockMs: 4,
} as const
/** The blocked time after which the event loop gets its turn. */
const blockedPerTurnMs = 4
/** The time between two polls that shows that another program had the core: a poll takes nanoseconds. */
const preemptedMs = 0.5
/** The number of polls between two readings of the clock. */
const pollsPerClock = 16

/** Decides when one process stops polling: at once where its core is shared with others. */
export class SpinPolicy {
  readonly #isOversubscribed: boolean
  readonly #moved: () => number
  readonly #cores: SharedCores
  /** Whether other threads needed the core of this one, or of a peer, when that was last asked. */
  isShared: boolean
  /** The blocked time since the last turn of the event loop. */
  #blockedMs = 0

  /**
   * @param oversubscribed whether there are more processes than cores
   * @param moved how many records polls have moved so far
   */
  constructor(oversubscribed: boolean, moved: () => number = () => 0, cores = new SharedCores()) {
    this.#isOversubscribed = this.isShared = oversubscribed
    this.#moved = moved
    this.#cores = cores
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
    return this.isShared && this.#blockedMs < blockedPerTurnMs ? sharedCore.blockMs : 0
  }

  /** Notes that the thread has blocked since `begin`. */
  blockedSince(begin: number): void {
    this.#blockedMs += performance.now() - begin
  }

  /** Notes that the event loop has its turn. */
  turn(): void {
    this.#blockedMs = 0
  }

  /**
   * Polls without pause; true as soon as a poll was successful.
   *
   * @param limit `spinMs` once all microtasks have run, `turnMs` in a turn of the event loop
   * @param poll polls that many times, or until it is successful
   */
  spin(limit: 'spinMs' | 'turnMs', poll: (times: number) => boolean): boolean {
    // A frame that comes at once does not wait for the clock to be read.
    if (poll(this.isShared ? 1 : pollsPerClock)) return true
    const now = performance.now()
    if (!this.#isOversubscribed) this.#cores.look(now)
    return this.#pollUntil(now, now + this.#limits(now)[limit], poll)
  }

  #limits(now: number): typeof ownCore | typeof sharedCore {
    this.isShared = this.#isOversubscribed || this.#cores.areShared(now)
    return this.isShared ? sharedCore : ownCore
  }

  #pollUntil(begin: number, until: number, poll: (times: number) => boolean): boolean {
    if (until === begin) return false
    for (let before = begin; ; ) {
      const moved = this.#moved()
      if (poll(pollsPerClock)) return true
      const now = performance.now()
      // Polls that copy parts of a long message take as long as another process would.
      if (now - before > preemptedMs && this.#moved() === moved) this.#cores.stoodStill(now)
      if (now >= until) return false
      before = now
    }
  }
}
