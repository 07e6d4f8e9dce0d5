import { clearTimeout, setTimeout } from 'node:timers'

/** The timers of a world; tests pass their own. */
export interface Clock {
  /** Calls `run` once after a delay, unless the returned function is called first. Does not keep the event loop alive. */
  later(delayMs: number, run: () => void): () => void
}

export const realClock: Clock = {
  later(delayMs, run) {
    const timer = setTimeout(run, delayMs)
    timer.unref()
    return () => clearTimeout(timer)
  },
}
