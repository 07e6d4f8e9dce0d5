import { closeSync, openSync, readSync } from 'node:fs'
import { performance } from 'node:perf_hooks'

/** The words of memory in which the threads of a world share what they know: a cache line. */
export const sharedCoresWords = 16
/** The index of the end of the last period of blocking, in milliseconds of the clock. */
const endWord = 0
/** The index of its length in milliseconds; 0: none has been. */
const lengthWord = 1

/** The least time between two looks of a thread: several slices of the scheduler. A look takes a few microseconds. */
const looksEveryMs = 24
/** The part of that time for which a thread that shares its core waits for it. */
const delayedShare = 0.25
/** A program that used this part of its cores shared them with no other: its own compilers and collectors took the rest. */
const ownShare = 0.85
/** The time after its start in which a thread competes with compilers of its own code, and is harder to convince. */
const startMs = 600
const startLooksEveryMs = 72
const startOwnShare = 0.75
/** The first and the longest period of blocking, and the ratio of one to the one before. */
const firstMs = 100
const longestMs = 1000
const growth = 4
/** The time after a period in which the scheduler moves threads that have blocked in turns from one core to several. */
const graceMs = 30
/** A world that shares its cores again so soon after a period has shared them all the time: a wait may take as long. */
const soonMs = 250

/**
 * Tells the threads of a world whether other programs use their cores, all of them at once: a thread that polls there
 * spends its slice, and then waits for those of the others, some milliseconds each; it also keeps a peer from the core
 * if both are on the same one. The scheduler prefers a thread that has blocked, as soon as it is woken. The longer
 * cores are shared, the more seldom the threads try whether they still are.
 */
export class SharedCores {
  readonly #words: Int32Array
  readonly #clocks: CoreClocks | undefined
  readonly #begunAt: number
  /** The time of the last look; minus infinity before the first one of a period of polling. */
  #lookedAt = Number.NEGATIVE_INFINITY
  #delayBefore = 0
  #usedBefore = 0

  /**
   * @param words of memory that the threads of the world share, zero at first
   * @param clocks undefined where delays are not known
   */
  constructor(
    words: Int32Array = new Int32Array(sharedCoresWords),
    clocks?: CoreClocks,
    begunAt = performance.now(),
  ) {
    this.#words = words
    this.#clocks = clocks
    this.#begunAt = begunAt
  }

  /** Returns whether the threads should block rather than poll at a time of `performance.now`. */
  areShared(now: number): boolean {
    return this.#leftMs(clockOf(now)) > 0
  }

  /**
   * Looks whether this thread had to wait for its core while it polled; most calls return at once. That a thread which
   * blocks waits for its core to wake, and then for the scheduler to move its peers to others, is no evidence.
   */
  look(now: number): void {
    const clocks = this.#clocks
    if (clocks === undefined) return
    const sinceMs = now - this.#lookedAt
    const isStarting = now - this.#begunAt < startMs
    if (sinceMs < (isStarting ? startLooksEveryMs : looksEveryMs)) return
    const left = this.#leftMs(clockOf(now))
    if (left > -graceMs) {
      this.#lookedAt = Number.NEGATIVE_INFINITY
      return
    }
    const [delay, used] = [clocks.delayMs(), clocks.usedMs()]
    const isDelayed = delay - this.#delayBefore > delayedShare * sinceMs
    const share = isStarting ? startOwnShare : ownShare
    const isUsedUp = used - this.#usedBefore > share * clocks.cores * sinceMs
    this.#lookedAt = now
    this.#delayBefore = delay
    this.#usedBefore = used
    if (isDelayed && !isUsedUp) this.#lost(now)
  }

  /** Notes that the clock stood still while this thread polled: the only evidence where delays are not known. */
  stoodStill(now: number): void {
    if (this.#clocks === undefined) this.#lost(now)
  }

  /** Begins a period of blocking, longer than one that has just ended. */
  #lost(now: number): void {
    const words = this.#words
    const clock = clockOf(now)
    const left = this.#leftMs(clock)
    if (left > 0) return
    const before = Atomics.load(words, endWord)
    const last = Atomics.load(words, lengthWord)
    const length = last > 0 && left > -soonMs ? Math.min(growth * last, longestMs) : firstMs
    if (Atomics.compareExchange(words, endWord, before, (clock + length) | 0) === before)
      Atomics.store(words, lengthWord, length)
  }

  /** Returns what is left of the last period; negative if it is over, as long ago. */
  #leftMs(clock: number): number {
    const left = (Atomics.load(this.#words, endWord) - clock) | 0
    // The clock begins again after some weeks.
    return left > longestMs ? -longestMs : left
  }
}

/** Milliseconds of the clock that the threads of a program have in common, in 32 bits. */
function clockOf(now: number): number {
  return (performance.timeOrigin + now) | 0
}

/** The clocks of Linux for the cores of a program, in milliseconds. */
export interface CoreClocks {
  /** Returns for how long this thread could have run but had no core, since it began. */
  delayMs(): number
  /** Returns for how long the threads of this program have run, all of them together. */
  usedMs(): number
  /** The number of threads of the world that can run at once. */
  readonly cores: number
}

/** Reads Linux' account of the time for which the calling thread could have run but had no core. */
export class RunDelay {
  /** Returns milliseconds since the thread began; undefined on other systems, and where containers hide the file. */
  readonly ms: (() => number) | undefined
  readonly #file: number | undefined

  constructor() {
    try {
      const file = openSync('/proc/thread-self/schedstat', 'r')
      const text = new Uint8Array(64)
      this.#file = file
      this.ms = () => {
        const length = readSync(file, text, 0, text.length, 0)
        const [, nanoseconds] = String.fromCharCode(...text.subarray(0, length)).split(' ')
        return Number(nanoseconds) / 1e6
      }
    } catch {
      this.#file = undefined
    }
  }

  close(): void {
    if (this.#file !== undefined) closeSync(this.#file)
  }
}

/** Returns for how long the threads of this program have run. */
export function usedMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}
