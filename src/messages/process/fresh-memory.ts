/** V8's heap of this thread, as far as receives of fresh arrays steer it. */
export interface FreshHeap {
  /** Collects young objects. */
  collectYoung(): void
  /** Bytes of buffers that the heap holds. */
  externalBytes(): number
  /** If V8 has marked its heap since the last call: it marks again only once there is much more in it. */
  makeRoom(): void
}

/**
 * The memory that receives without a buffer get. V8 counts the bytes of such arrays with those of old
 * objects: after 8 to 16 MiB it begins to mark the whole heap, though nearly all of them are garbage that a
 * collection of young objects would release. On two cores that took ten times as long as the messages. So
 * this process collects its young objects before, as long as that pays off.
 */
export class FreshMemory {
  readonly #openHeap: () => FreshHeap | undefined
  readonly #retainFreed: () => void
  /** Opened when it is first needed. */
  #heap: FreshHeap | undefined
  #tries = 0
  #hasLong = false
  /** Long arrays since room was made for them, or none was needed. */
  #longArrays = 0
  #periodBytes = shortestPeriodBytes
  #leftBytes = shortestPeriodBytes
  /** Of the heap, before the last collection. */
  #externalBytes: number | undefined

  /** @param retainFreed called before the first long array: what such arrays free is soon needed again */
  constructor(openHeap: () => FreshHeap | undefined, retainFreed: () => void = () => {}) {
    this.#openHeap = openHeap
    this.#retainFreed = retainFreed
  }

  /**
   * A receive is about to make an array of so many bytes. The program usually holds the last array until it has this
   * one. Collected now, each survives one collection; collected once this one is made, each would survive two, and so
   * become an old object, which only a collection of the whole heap releases.
   */
  take(sizeBytes: number): void {
    if (sizeBytes >= shortestPeriodBytes) this.#takeLong()
    this.#leftBytes -= sizeBytes
    if (this.#leftBytes <= 0) this.#collect()
  }

  #takeLong(): void {
    if (!this.#hasLong) this.#retainFreed()
    this.#hasLong = true
    this.#longArrays++
  }

  #collect(): void {
    const takenBytes = this.#periodBytes - this.#leftBytes
    this.#heap ??= this.#openHeap()
    const heap = this.#heap
    if (heap === undefined) {
      this.#tries++
      this.#leftBytes = this.#tries < mostTries ? this.#periodBytes : Number.POSITIVE_INFINITY
      return
    }
    const externalBytes = heap.externalBytes()
    const retainedBytes = externalBytes - (this.#externalBytes ?? externalBytes)
    this.#externalBytes = externalBytes
    // The program retains what it receives: there is little to release.
    const isInVain = retainedBytes * 2 > takenBytes
    this.#periodBytes = isInVain ? Math.min(longestPeriodBytes, this.#periodBytes * 2) : shortestPeriodBytes
    this.#leftBytes = this.#periodBytes
    heap.collectYoung()
    if (this.#longArrays < arraysPerRoom) return
    this.#longArrays = 0
    heap.makeRoom()
  }
}

/** Less than what V8 takes at least before it begins to mark. A longer array alone may have it mark. */
export const shortestPeriodBytes = 4 * 2 ** 20
/** Where the program retains what it receives. */
export const longestPeriodBytes = 64 * 2 ** 20

/** Another thread may clear the flag between its setting and the look-up here. */
const mostTries = 16

/** To make room takes a collection of the whole heap, some 10 ms: programs of few long arrays need none. */
const arraysPerRoom = 16
