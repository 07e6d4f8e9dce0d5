import { performance } from 'node:perf_hooks'

/**
 * How long a waiting process polls before it sleeps: without pause at first, then for a while in every turn
 * of the event loop. A wake-up costs up to 0.1 ms where the core has to wake too; a process that slept sooner
 * would be asleep again whenever its peer has just been woken. Processes that share cores would delay each
 * other, so they block instead: the sender of a frame wakes the thread itself, in a tenth of the time that a
 * message to its event loop takes.
 */
const dedicatedCore = { spinMs: 0.05, turnMs: 0.02, activePollingMs: 1, blockMs: 0 } as const
const sharedCore = { spinMs: 0.005, turnMs: 0, activePollingMs: 0.1, blockMs: 1 } as const
/** After blocking for so long, the event loop gets its turn. */
const blockedPerTurnMs = 4
/** A poll takes nanoseconds; when this has passed between two, another process had the core. */
const preemptedMs = 0.5
/** For how long the machine counts as oversubscribed then. */
const oversubscribedMs = 20
/** Polls between two readings of the clock. */
const pollsPerClock = 16

/** When one process stops polling; it adapts to preemption. */
export class SpinPolicy {
  #now: typeof dedicatedCore | typeof sharedCore
  #oversubscribedUntil: number
  /** Since the last turn of the event loop. */
  #blockedMs = 0

  /** @param oversubscribed whether there are more processes than cores */
  constructor(oversubscribed: boolean) {
    this.#oversubscribedUntil = oversubscribed ? Number.POSITIVE_INFINITY : 0
    this.#now = oversubscribed ? sharedCore : dedicatedCore
  }

  /** For how long an idle process polls in every turn of the event loop after a frame came. */
  activePollingMs(now: number): number {
    if (now >= this.#oversubscribedUntil) this.#now = dedicatedCore
    return this.#now.activePollingMs
  }

  /**
   * For how long the thread may block now, its event loop included; 0 where spinning takes the core from no
   * other thread.
   */
  get blockMs(): number {
    return this.#blockedMs < blockedPerTurnMs ? this.#now.blockMs : 0
  }

  /** The thread has blocked since `begin`. */
  blockedSince(begin: number): void {
    this.#blockedMs += performance.now() - begin
  }

  /** The event loop has its turn. */
  turn(): void {
    this.#blockedMs = 0
  }

  /**
   * Polls without pause; true as soon as a poll was successful.
   *
   * @param poll polls that many times, or until it is successful
   */
  spin(poll: (times: number) => boolean): boolean {
    return this.#pollFor(this.#now.spinMs, poll)
  }

  /** The same in a turn of the event loop. */
  spinInTurn(poll: (times: number) => boolean): boolean {
    return this.#pollFor(this.#now.turnMs, poll)
  }

  #pollFor(milliseconds: number, poll: (times: number) => boolean): boolean {
    // A frame that comes at once does not wait for the clock to be read.
    for (let until = 0, before = 0; ; ) {
      if (poll(pollsPerClock)) return true
      const now = performance.now()
      if (until === 0) until = now + milliseconds
      else {
        if (now - before > preemptedMs) {
          this.#oversubscribedUntil = now + oversubscribedMs
          this.#now = sharedCore
        }
        if (now >= until) return false
      }
      before = now
    }
  }
}
