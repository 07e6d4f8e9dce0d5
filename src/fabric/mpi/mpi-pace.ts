import { performance } from 'node:perf_hooks'
import { clearTimeout, setTimeout } from 'node:timers'
import { Task } from '../own-handles.js'

/**
 * How long to go on looking at every turn of the event loop after something came. Longer than the first delays of a peer
 * that has gone to sleep: two processes that answer each other wake up together and stay awake.
 */
const pollOnMs = 4
/** Then by a timer: first after this long, each time a half longer, up to the longest. */
const firstDelayMs = 1
const longestDelayMs = 5
/** Bounds of how long `spin` looks. It spins longer where that would have caught what came. */
const shortestSpinMs = 0.005
const longestSpinMs = 0.05
/** Something that comes so soon after a spin in vain was worth a longer one. */
const soonMs = 0.2
/** After so many spins that found something the event loop gets its turn. */
const spinsPerTurn = 1024
/** Looks between two looks at the clock, and in a turn of the event loop where processes share cores. */
const pollsAtOnce = 8

/** What is paced. */
export interface Pacer {
  /** Delivers what has come; true if anything. */
  look(): boolean
  /** Somebody waits for a transfer. */
  moving(): boolean
  /** Lets another process have the core, where a look in vain has not done so already. */
  readonly yieldTurn?: () => void
  /** Processes per core on this node. */
  readonly sharers: number
}

/**
 * How often a process looks for arrivals. MPI can wake nobody, so the process has to look: without pause while it can
 * do nothing else and something is likely to come, then once per turn of the event loop, which lets timers and I/O
 * in, then ever more slowly by a timer. An idle process looks every 5 ms, for about 1 % of a core.
 *
 * Where processes share cores, all of these times are longer, a look in vain gives the core away, and several looks
 * share a turn of the event loop, which costs the others more than they do.
 */
export class MpiPace {
  readonly #pacer: Pacer
  readonly #look: () => boolean
  readonly #crowded: boolean
  readonly #yieldTurn: (() => void) | undefined
  readonly #spinPolicy: number
  readonly #task = new Task(() => this.#turn())
  #timer: NodeJS.Timeout | undefined
  #asleep = true
  #delayMs = firstDelayMs
  #activeAt = 0
  #sawActivity = false
  #spinMs = longestSpinMs
  #spunAt = 0
  /** Spins that found something since the last turn of the event loop. */
  #spins = 0
  #closed = false

  constructor(pacer: Pacer) {
    this.#pacer = pacer
    this.#look = pacer.look
    this.#crowded = pacer.sharers > 1
    this.#yieldTurn = this.#crowded ? pacer.yieldTurn : undefined
    this.#spinPolicy = Math.max(1, pacer.sharers)
  }

  /** Something came. */
  active(): void {
    this.#sawActivity = true
  }

  /** Something is expected: look at every turn for a while. */
  hurry(): void {
    this.#sawActivity = true
    if (!this.#asleep || this.#closed) return
    this.#asleep = false
    if (this.#timer !== undefined) clearTimeout(this.#timer)
    this.#timer = undefined
    this.#task.schedule()
  }

  /** Whether a rank may look by itself: not again and again without a turn of the event loop. */
  mayPoll(): boolean {
    this.hurry()
    return this.#spins < spinsPerTurn
  }

  /** It has found something. */
  found(): void {
    this.#spins++
    this.#sawActivity = true
  }

  /** Looks without pause; true once something came, false when it takes too long or others must have their turn. */
  spin(): boolean {
    this.hurry()
    if (this.#spins >= spinsPerTurn) return false
    for (let until = 0; !this.#closed; ) {
      if (this.#pollTimes(pollsAtOnce)) {
        this.#spins++
        return true
      }
      const now = performance.now()
      if (until === 0) until = now + this.#spinMs * this.#spinPolicy
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
      if (this.#crowded && !this.#asleep) this.#pollTimes(pollsAtOnce)
      else this.#look()
    } finally {
      if (!this.#closed) this.#goOn()
    }
  }

  #pollTimes(times: number): boolean {
    for (let looks = 0; looks < times; looks++) {
      if (this.#look()) return true
      this.#yieldTurn?.()
    }
    return false
  }

  #goOn(): void {
    const now = performance.now()
    if (this.#sawActivity) {
      this.#sawActivity = false
      this.#activeAt = now
      this.#delayMs = firstDelayMs
      if (now - this.#spunAt < soonMs * this.#spinPolicy) this.#spinMs = longestSpinMs
    }
    if (now - this.#activeAt < pollOnMs * this.#spinPolicy) {
      this.#asleep = false
      this.#task.schedule()
      return
    }
    this.#asleep = true
    this.#timer = setTimeout(() => this.#turn(), this.#delayMs)
    // Whoever waits for frames keeps the event loop alive; looking for them must not.
    if (!this.#pacer.moving()) this.#timer.unref()
    this.#delayMs = Math.min(longestDelayMs, this.#delayMs * 1.5)
  }
}
