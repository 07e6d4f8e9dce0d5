import { nodeProcess } from './node-process.js'
import { cancelTurn, inLaterTurn } from './turn.js'

/** The timers of a world; tests pass their own. */
export interface Clock {
  /**
   * Calls `run` once after a delay, unless the returned function is called first. It does not keep the event loop
   * alive.
   */
  later(delayMs: number, run: () => void): () => void
}

/**
 * The timers are retained when this module is loaded, so a test that replaces the timers of its program does not stop
 * the library.
 */
const { setTimeout, clearTimeout } = globalThis

const { hrtime } = nodeProcess ?? {}

/**
 * Reads microseconds from a clock that never goes back; only differences within one process count. In Node it takes
 * half as long as `performance.now()`, and needs no BigInt.
 */
export const clockUs: () => number =
  hrtime === undefined
    ? () => performance.now() * 1000
    : () => {
        const time = hrtime()
        return time[0] * 1e6 + time[1] / 1000
      }

/** The clock that {@link clockUs} reads. */
export const clockName = hrtime === undefined ? 'performance.now' : 'process.hrtime'

/**
 * Returns the processor time in milliseconds, which no other program lengthens: of this process with all its threads, or
 * of this thread (before Node 23.9 of the process). Only in Node.
 */
export function processorMs(of: 'process' | 'thread'): number {
  const { user, system } =
    (of === 'thread' ? nodeProcess?.threadCpuUsage?.() : null) ?? nodeProcess!.cpuUsage()
  return (user + system) / 1000
}

export const realClock: Clock = {
  later(delayMs, run) {
    const timer = setTimeout(run, delayMs)
    // Timers of browsers are numbers and keep nothing alive.
    ;(timer as { unref?(): void }).unref?.()
    return () => clearTimeout(timer)
  },
}

/**
 * The number of polls of the event loop between the end of a time limit and its effect. Due timers run before the
 * network is read, and a step of an introduction takes up to four turns: a TLS handshake does, and so does a proof.
 */
export const pollsAfterLimit = 8

/**
 * Limits the time of data that a peer sends, as `clock.later` does. A process that computes in slices first reads the
 * data that have arrived, however long a slice takes.
 */
export function limitTime(clock: Clock, delayMs: number, expired: () => void): () => void {
  let cancel: () => void
  const poll = (left: number) => {
    if (left === 0) {
      expired()
      return
    }
    const turn = inLaterTurn(poll, left - 1)
    cancel = () => cancelTurn(turn)
  }
  cancel = clock.later(delayMs, () => poll(pollsAfterLimit))
  return () => cancel()
}
