import { roundUp } from '../../base/bytes.js'

/**
 * The bytes at the start from which free ranges are taken in turn; the rest is used only when these are taken. Memory
 * whose last content is still in the cache of another core costs up to ten times as much to write (record 0028). These
 * bytes are more than such a cache holds. It also bounds the pages that are backed by memory if little is taken at a
 * time.
 */
export const lapBytes = 8 * 2 ** 20

/** The free ranges of a stretch of memory, in bytes. */
export class FreeRanges {
  readonly #starts: number[]
  readonly #sizes: number[]
  /** The end of the range that was taken last, as long as that is in the lap. */
  #next = 0

  constructor(sizeBytes: number) {
    this.#starts = [0]
    this.#sizes = [sizeBytes]
  }

  get freeBytes(): number {
    return this.#sizes.reduce((sum, size) => sum + size, 0)
  }

  /**
   * Returns the start of a range of this many bytes, a multiple of 64 as those before it are; -1 if none is long
   * enough.
   */
  take(sizeBytes: number): number {
    const size = roundUp(sizeBytes, 64)
    const inTurn = this.#takeFrom(this.#next, size, lapBytes)
    const start = inTurn < 0 ? this.#takeFrom(0, size, Number.POSITIVE_INFINITY) : inTurn
    const end = start + size
    if (start >= 0) this.#next = end < lapBytes ? end : 0
    return start
  }

  /** Takes the first free range from `from` on; returns -1 if none is long enough and begins before `limit`. */
  #takeFrom(from: number, size: number, limit: number): number {
    for (let at = 0; at < this.#starts.length; at++) {
      const freeStart = this.#starts[at]
      const freeEnd = freeStart + this.#sizes[at]
      const start = Math.max(freeStart, from)
      if (start >= limit) return -1
      if (freeEnd - start < size) continue
      this.#remove(at)
      this.#insert(at, start + size, freeEnd)
      this.#insert(at, freeStart, start)
      return start
    }
    return -1
  }

  give(start: number, sizeBytes: number): void {
    const after = this.#starts.findIndex((other) => other > start)
    const at = after < 0 ? this.#starts.length : after
    this.#insert(at, start, start + roundUp(sizeBytes, 64))
    this.#join(at)
    this.#join(at - 1)
  }

  #insert(at: number, start: number, end: number): void {
    if (start === end) return
    this.#starts.splice(at, 0, start)
    this.#sizes.splice(at, 0, end - start)
  }

  /** Joins a range with the one after it, if nothing is between them. */
  #join(at: number): void {
    if (at < 0 || this.#starts[at] + this.#sizes[at] !== this.#starts[at + 1]) return
    this.#sizes[at] += this.#sizes[at + 1]
    this.#remove(at + 1)
  }

  #remove(at: number): void {
    this.#starts.splice(at, 1)
    this.#sizes.splice(at, 1)
  }
}
