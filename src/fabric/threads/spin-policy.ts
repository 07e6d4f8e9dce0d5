import { performance } from 'node:perf_hooks'

/**
 * How long a process that waits goes on looking before it sleeps: without pause at first, then for a while in every
 * turn of the event loop. To be woken costs up to 0.1 ms where the core has to be woken too; a process that slept
 * sooner would be asleep again whenever its peer has just been woken. Processes that must share cores are in each
 * other's way instead.
 */
const alone = { spinMs: 0.05, turnMs: 0.02, activePollingMs: 1 } as const
const inCrowd = { spinMs: 0.005, turnMs: 0, activePollingMs: 0.1 } as const
/** A look takes nanoseconds; when this has passed between two, somebody else had the core. */
const displacedMs = 0.5
/** For how long the machine counts as crowded then. */
const crowdedMs = 20
/** Looks between two looks at the clock. */
const pollsPerClock = 16

/** The patience of one process. */
export class SpinPolicy {
  #now: typeof alone | typeof inCrowd
  #crowdedUntil: number

  /** @param crowded whether there are more processes than cores */
  constructor(crowded: boolean) {
    this.#crowdedUntil = crowded ? Number.POSITIVE_INFINITY : 0
    this.#now = crowded ? inCrowd : alone
  }

  /** For how long a process that has nothing to do goes on looking at every turn of the event loop. */
  activePollingMs(now: number): number {
    if (now >= this.#crowdedUntil) this.#now = alone
    return this.#now.activePollingMs
  }

  /** Looks again and again; true as soon as `look` has found something, which is asked to look a number of times. */
  spin(look: (times: number) => boolean): boolean {
    return this.#lookFor(this.#now.spinMs, look)
  }

  /** The same in a turn of the event loop. */
  spinInTurn(look: (times: number) => boolean): boolean {
    return this.#lookFor(this.#now.turnMs, look)
  }

  #lookFor(milliseconds: number, look: (times: number) => boolean): boolean {
    // What comes at once should not have to wait for the clock to be read.
    for (let until = 0, before = 0; ; ) {
      if (look(pollsPerClock)) return true
      const now = performance.now()
      if (until === 0) until = now + milliseconds
      else {
        if (now - before > displacedMs) {
          this.#crowdedUntil = now + crowdedMs
          this.#now = inCrowd
        }
        if (now >= until) return false
      }
      before = now
    }
  }
}
