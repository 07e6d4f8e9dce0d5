import { performance } from 'node:perf_hooks'
import { clearTimeout, setTimeout } from 'node:timers'
import { Task } from '../own-handles.js'

/**
 * How long to poll in every turn of the event loop after a frame came. Longer than the first delays of a
 * sleeping peer: two processes that answer each other wake up together and stay awake.
 */
const activePollingMs = 4
/**
 * The same while a bulk transfer is in progress: MPI copies a part of it per poll and reports whole pieces
 * only. Longer than a piece takes, unless the peer does not poll.
 */
const movingPollingMs = 200
/** Then by a timer: first after this long, each time a half longer, up to the longest. */
const firstDelayMs = 1
const longestDelayMs = 5
/** Bounds of how long `spin` polls. It spins longer where that would have caught the last frame. */
const shortestSpinMs = 0.005
const longestSpinMs = 0.05
/** A frame that comes so soon after an unsuccessful spin justifies a longer one. */
const soonMs = 0.2
/** After so many successful spins the event loop gets its turn. */
const spinsPerTurn = 1024
/**
 * Where processes share cores, a poll that yields the core counts as so many of them: it takes much longer.
 */
const spinsPerYield = 8
/** Polls between two readings of the clock, and in a turn of the event loop where processes share cores. */
const pollsPerBatch = 8
/** A poll that yields the core takes as long as so many that do not, at least. */
const pollsPerYield = 32

export interface PolledProcess {
  /** Delivers what has arrived; true if anything has. */
  poll(): boolean
  /** A bulk transfer is in progress. */
  moving(): boolean
  /** Yields the core to another process; absent where an unsuccessful poll does so already. */
  readonly yieldTurn?: () => void
  /** Processes per core on this node. */
  readonly processesPerCore: number
}

/**
 * How often a process polls for arrivals. MPI cannot wake the event loop, so a waiting process polls: without
 * pause while it can do nothing else and a frame is likely to come, then once per turn of the event loop,
 * which lets timers and I/O in, then at growing intervals by a timer. An idle process polls every 5 ms, for
 * about 1% of a core.
 *
 * Where processes share cores, all of these times are longer, an unsuccessful poll yields the core, and
 * several polls share a turn of the event loop, which costs the others more than they do.
 *
 * A rank that is about to wait polls by itself: `mayPoll`, then at most `attempts` polls, each followed by
 * `succeeded` or `failed`. So a rank of its own process that answers the others does so without a separate
 * turn, tick or microtask.
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
  /** Successful spins since the last turn of the event loop, and what counts as such. */
  #spins = 0
  #closed = false

  constructor(polled: PolledProcess) {
    this.#polled = polled
    this.#poll = polled.poll
    this.#oversubscribed = polled.processesPerCore > 1
    this.#yieldTurn = this.#oversubscribed ? polled.yieldTurn : undefined
    this.#timeFactor = Math.max(1, polled.processesPerCore)
  }

  /** A frame came, or a transfer advanced. */
  arrived(): void {
    this.#sawActivity = true
  }

  /** A frame is expected: polls in every turn for a while. */
  expectArrival(): void {
    this.#sawActivity = true
    if (!this.#asleep || this.#closed) return
    this.#asleep = false
    if (this.#timer !== undefined) clearTimeout(this.#timer)
    this.#timer = undefined
    this.#task.schedule()
  }

  /** Whether a rank may poll by itself: only so often without a turn of the event loop. */
  mayPoll(): boolean {
    this.expectArrival()
    return this.#spins < spinsPerTurn
  }

  /** How often a rank polls that would poll `maxPolls` times if its process had its own core. */
  attempts(maxPolls: number): number {
    return this.#oversubscribed ? Math.floor(maxPolls / pollsPerYield) : maxPolls
  }

  /** A rank's own poll was successful. */
  succeeded(): void {
    this.#spins++
    this.#sawActivity = true
  }

  /** A rank's own poll was unsuccessful. */
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
