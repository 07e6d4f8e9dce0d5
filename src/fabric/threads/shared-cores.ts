import { closeSync, openSync, readSync } from 'node:fs'
import { performance } from 'node:perf_hooks'

/** The words of memory in which the threads of a world share what they know: a cache line. */
export const sharedCoresWords = 16
/** The index of the end of the last period of blocking, in milliseconds of the clock. */
const endWord = 0
/** The index of its length in milliseconds; 0: none has been. */
const lengthWord = 1

/** The time between two looks of a thread; a look takes about two microseconds. */
const looksEveryMs = 2
/** A thread shares its core when it waited for it for so long since its last look, and for such a part of that time. */
const delayedMs = 0.3
const delayedShare = 0.05
/** The first and the longest period of blocking. */
const firstMs = 20
const longestMs = 1000
/** A world that shares its cores again so soon after a period has shared them all the time. */
const soonMs = 16

/**
 * Tells the threads of a world whether other programs use their cores, all of them at once: a thread that polls there
 * spends its slice, and then waits for those of the others, some milliseconds each; it also keeps a peer from the core
 * if both are on the same one. The scheduler prefers a thread that has blocked, as soon as it is woken. The longer
 * cores are shared, the more seldom the threads try whether they still are.
 */
export class SharedCores {
  readonly #words: Int32Array
  readonly #delayMs: () => number
  #lookedAt = 0
  #delayBefore = 0

  /**
   * @param words of memory that the threads of the world share, zero at first
   * @param delayMs for how long this thread could have run but had no core, since it began
   */
  constructor(words: Int32Array = new Int32Array(sharedCoresWords), delayMs: () => number = () => 0) {
    this.#words = words
    this.#delayMs = delayMs
  }

  /** Returns whether the threads should block rather than poll at a time of `performance.now`. */
  areShared(now: number): boolean {
    return this.#leftMs(clockOf(now)) > 0
  }

  /** Looks whether this thread had to wait for its core; most calls return at once. */
  look(now: number): void {
    const sinceMs = now - this.#lookedAt
    if (sinceMs < looksEveryMs) return
    const delay = this.#delayMs()
    const waitedMs = delay - this.#delayBefore
    this.#lookedAt = now
    this.#delayBefore = delay
    if (waitedMs > delayedMs && waitedMs > delayedShare * sinceMs) this.lost(now)
  }

  /** Notes that another program had the core of this thread. */
  lost(now: number): void {
    const words = this.#words
    const clock = clockOf(now)
    const left = this.#leftMs(clock)
    if (left > 0) return
    const before = Atomics.load(words, endWord)
    const last = Atomics.load(words, lengthWord)
    const length = last > 0 && left > -soonMs ? Math.min(2 * last, longestMs) : firstMs
    if (Atomics.compareExchange(words, endWord, before, (clock + length) | 0) === before)
      Atomics.store(words, lengthWord, length)
  }

  /** What is left of the last period; negative if it is over, as long ago. */
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

/** Reads Linux' account of the time for which the calling thread could have run but had no core; 0 elsewhere. */
export class RunDelay {
  readonly #file: number | undefined
  readonly #text = new Uint8Array(64)

  constructor() {
    try {
      this.#file = openSync('/proc/thread-self/schedstat', 'r')
    } catch {
      // Only Linux counts it, and containers may hide the file: then a clock that stands still has to tell.
      this.#file = undefined
    }
  }

  /** Milliseconds since the thread began. */
  readonly ms = (): number => {
    if (this.#file === undefined) return 0
    const length = readSync(this.#file, this.#text, 0, this.#text.length, 0)
    const [, nanoseconds] = String.fromCharCode(...this.#text.subarray(0, length)).split(' ')
    return Number(nanoseconds) / 1e6
  }

  close(): void {
    if (this.#file !== undefined) closeSync(this.#file)
  }
}
