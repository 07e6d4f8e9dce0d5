import { clearTimeout, setTimeout } from 'node:timers'

/** Time as a world uses it; tests bring their own. */
export interface Clock {
  /** Runs once after so many milliseconds, unless the result is called before. Keeps no event loop alive. */
  later(delayMs: number, run: () => void): () => void
}

export const realClock: Clock = {
  later(delayMs, run) {
    const timer = setTimeout(run, delayMs)
    timer.unref()
    return () => clearTimeout(timer)
  },
}
