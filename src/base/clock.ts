/** The timers of a world; tests pass their own. */
export interface Clock {
  /**
   * Calls `run` once after a delay, unless the returned function is called first. Does not keep the event
   * loop alive.
   */
  later(delayMs: number, run: () => void): () => void
}

/**
 * As they are when this module is loaded: a test that replaces the timers of its program does not stop the
 * library.
 */
const { setTimeout, clearTimeout } = globalThis

export const realClock: Clock = {
  later(delayMs, run) {
    const timer = setTimeout(run, delayMs)
    // A browser's timer is a number, and keeps nothing alive.
    ;(timer as { unref?(): void }).unref?.()
    return () => clearTimeout(timer)
  },
}
