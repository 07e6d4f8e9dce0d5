/** The free ranges of a stretch of memory, in bytes: the first that is long enough is taken, so what is used stays in the cache. */
export class FreeRanges {
  readonly #starts: number[]
  readonly #sizes: number[]

  constructor(sizeBytes: number) {
    this.#starts = [0]
    this.#sizes = [sizeBytes]
  }

  get freeBytes(): number {
    return this.#sizes.reduce((sum, size) => sum + size, 0)
  }

  /** Start of a range of this many bytes, a multiple of 64 as those before it are; -1 if none is long enough. */
  take(sizeBytes: number): number {
    const size = padded(sizeBytes)
    const at = this.#sizes.findIndex((free) => free >= size)
    if (at < 0) return -1
    const start = this.#starts[at]!
    if (this.#sizes[at] === size) this.#remove(at)
    else {
      this.#starts[at] = start + size
      this.#sizes[at]! -= size
    }
    return start
  }

  /** Returns a range that was taken with this size. */
  give(start: number, sizeBytes: number): void {
    const size = padded(sizeBytes)
    const after = this.#starts.findIndex((other) => other > start)
    const at = after < 0 ? this.#starts.length : after
    this.#starts.splice(at, 0, start)
    this.#sizes.splice(at, 0, size)
    this.#join(at)
    this.#join(at - 1)
  }

  /** Joins a range with the one after it, if nothing is between them. */
  #join(at: number): void {
    if (at < 0 || this.#starts[at]! + this.#sizes[at]! !== this.#starts[at + 1]) return
    this.#sizes[at]! += this.#sizes[at + 1]!
    this.#remove(at + 1)
  }

  #remove(at: number): void {
    this.#starts.splice(at, 1)
    this.#sizes.splice(at, 1)
  }
}

function padded(sizeBytes: number): number {
  return Math.ceil(sizeBytes / 64) * 64
}
