import { performance } from 'node:perf_hooks'
import { clearTimeout, setTimeout } from 'node:timers'
import { Task } from '../own-handles.js'

/**
 * The time for which a process polls in every turn of the event loop after a frame came. It exceeds the first delays of
 * a sleeping peer: two processes that answer each other wake up together and stay awake.
 */
const activePollingMs = 4
/**
 * The time for which it does so while a bulk transfer is in progress: MPI copies a part of it per poll and reports
 * whole pieces only. It exceeds the time of a piece, unless the peer does not poll.
 */
const movingPollingMs = 200
/** The first delay of the timer that polls afterwards. Each delay is a half longer, up to the longest. */
const firstDelayMs = 1
const longestDelayMs = 5
/** The bounds of the time for which `spin` polls. It spins longer if that would have caught the last frame. */
const shortestSpinMs = 0.005
const longestSpinMs = 0.05
/** The time after an unsuccessful spin within which a frame justifies a longer spin. */
const soonMs = 0.2
/** The number of successful spins after which the event loop gets its turn. */
const spinsPerTurn = 1024
/** The number of polls that one yielding poll counts as: where processes share cores, it takes much longer. */
const spinsPerYield = 8
/** The number of polls between two readings of the clock, and in a turn of the event loop if processes share cores. */
const pollsPerBatch = 8
/** The least number of plain polls that take as long as one poll that yields the core. */
const pollsPerYield = 32

interface PolledProcess {
  /** Delivers what has arrived; true if anything has. */
  poll(): boolean
  /** Returns whether a bulk transfer is in progress. */
  moving(): boolean
  /** Yields the core to another process; absent if an unsuccessful poll does so already. */
  readonly yieldTurn?: () => void
  /** The number of processes per core on this node. */
  readonly processesPerCore: number
}

/**
 * Decides how often a process polls for arrivals. MPI cannot wake the event loop, so a waiting process polls. It polls
 * without pause while it can do nothing else and a frame is likely to come. Then it polls once per turn of the event
 * loop, which lets timers and I/O in, and at last by a timer at growing intervals. An idle process polls every 5 ms,
 * for about 1% of a core. Where processes share cores, all of these times are longer, and an unsuccessful poll yields
 * the core. Several polls then share a turn of the event loop, which costs the others more than they do.
 *
 * A rank that is about to wait polls by itself: `mayPoll`, then at most `attempts` polls, each followed by `succeeded`
 * or `failed`. So a rank that answers the others does so without a separate turn, tick or microtask.
 */
export class MpiPolling {
  readonly #polled: PolledProcess
  readonly #poll: () => boolean
  readonly #oversubscribed: boolean
  readonly #yieldTurn: (() => void) | undefined
  readonly #timeFactor: number
  readonly #task = new Task(() => this.#turn())
  #timer: NodeJS.Timeout | undefined
  #asleep = true
  #delayMs = firstDelayMs
  #activeAt = 0
  #sawActivity = false
  #spinMs = longestSpinMs
  #spunAt = 0
  /** The number of successful spins since the last turn of the event loop, and of polls that count as such. */
  #spins = 0
  #closed = false

  constructor(polled: PolledProcess) {
    this.#polled = polled
    this.#poll = polled.poll
    this.#oversubscribed = polled.processesPerCore > 1
    this.#yieldTurn = this.#oversubscribed ? polled.yieldTurn : undefined
    this.#timeFactor = Math.max(1, polled.processesPerCore)
  }

  /** Notes that a frame came, or a transfer advanced. */
  arrived(): void {
    this.#sawActivity = true
  }

  /** Polls in every turn for a while, because a frame is expected. */
  expectArrival(): void {
    this.#sawActivity = true
    if (!this.#asleep || this.#closed) return
    this.#asleep = false
    if (this.#timer !== undefined) clearTimeout(this.#timer)
    this.#timer = undefined
    this.#task.schedule()
  }

  /** Returns whether a rank may poll by itself: only so often without a turn of the event loop. */
  mayPoll(): boolean {
    this.expectArrival()
    return this.#spins < spinsPerTurn
  }

  /** Returns how often a rank polls that would poll `maxPolls` times on a core without other processes. */
  attempts(maxPolls: number): number {
    return this.#oversubscribed ? Math.floor(maxPolls / pollsPerYield) : maxPolls
  }

  /** Notes that a rank's own poll was successful. */
  succeeded(): void {
    this.#spins++
    this.#sawActivity = true
  }

  /** Notes that a rank's own poll was unsuccessful. */
  failed(): void {
    if (!this.#oversubscribed) return
    this.#spins += spinsPerYield
    this.#yieldTurn?.()
  }

  /**
   * Polls without pause; true once a frame came, false when it takes too long or the event loop must have its
   * turn.
   */
  spin(): boolean {
    this.expectArrival()
    if (this.#spins >= spinsPerTurn) return false
    for (let until = 0; !this.#closed; ) {
      if (this.#pollTimes(pollsPerBatch)) {
        this.#spins++
        return true
      }
      const now = performance.now()
      if (until === 0) until = now + this.#spinMs * this.#timeFactor
      if (now < until) continue
      this.#spunAt = now
      this.#spinMs = Math.max(shortestSpinMs, this.#spinMs / 2)
      break
    }
    return false
  }

  close(): void {
    this.#closed = true
    this.#task.cancel()
    if (this.#timer !== undefined) clearTimeout(this.#timer)
  }

  #turn(): void {
    this.#spins = 0
    try {
      if (this.#oversubscribed && !this.#asleep) this.#pollTimes(pollsPerBatch)
      else this.#poll()
    } finally {
      if (!this.#closed) this.#scheduleNext()
    }
  }

  #pollTimes(times: number): boolean {
    for (let polls = 0; polls < times; polls++) {
      if (this.#poll()) return true
      this.failed()
    }
    return false
  }

  #scheduleNext(): void {
    const now = performance.now()
    if (this.#sawActivity) {
      this.#sawActivity = false
      this.#activeAt = now
      this.#delayMs = firstDelayMs
      if (now - this.#spunAt < soonMs * this.#timeFactor) this.#spinMs = longestSpinMs
    }
    const activeMs = this.#polled.moving() ? movingPollingMs : activePollingMs
    if (now - this.#activeAt < activeMs * this.#timeFactor) {
      this.#asleep = false
      this.#task.schedule()
      return
    }
    this.#asleep = true
    this.#timer = setTimeout(() => this.#turn(), this.#delayMs)
    // A wait keeps the event loop alive; polling alone must not.
    if (!this.#polled.moving()) this.#timer.unref()
    this.#delayMs = Math.min(longestDelayMs, this.#delayMs * 1.5)
  }
}
