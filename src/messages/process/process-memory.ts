import type { FreshHeap, ProcessHeap } from '../../fabric/fabric.js'

/**
 * The memory that receives without a buffer get. V8 counts the bytes of such arrays with those of old objects. After 8
 * to 16 MiB it begins to mark the whole heap, though a collection of young objects would release nearly all of them. On
 * two cores that took ten times as long as the messages. This process therefore collects its young objects before, as
 * long as that pays off.
 */
export class FreshMemory {
  readonly #shared: ProcessHeap | undefined
  #heap: FreshHeap | undefined
  #tries = 0
  /** The bytes of long arrays since room was made for them, or none was needed. */
  #longBytes = 0
  #periodBytes = shortestPeriodBytes
  #leftBytes = shortestPeriodBytes
  /** The external bytes of the heap before the last collection. */
  #externalBytes: number | undefined

  /** @param shared undefined if the program and others share the heap, which this process must not collect then */
  constructor(shared: ProcessHeap | undefined) {
    this.#shared = shared
  }

  /**
   * Notes that a receive is about to make an array of so many bytes. The program usually holds the last array until it
   * has this one. Collected now, each array survives one collection. Collected once this one is made, each would
   * survive two and become an old object, which only a collection of the whole heap releases.
   */
  take(sizeBytes: number): void {
    if (sizeBytes >= longBytes) this.#longBytes += sizeBytes
    this.#leftBytes -= sizeBytes
    if (this.#leftBytes <= 0) this.#collect()
  }

  #collect(): void {
    const takenBytes = this.#periodBytes - this.#leftBytes
    this.#heap ??= this.#shared?.open()
    const heap = this.#heap
    if (heap === undefined) {
      this.#tries++
      this.#leftBytes = this.#tries < mostTries ? this.#periodBytes : Number.POSITIVE_INFINITY
      return
    }
    const externalBytes = heap.externalBytes()
    const retainedBytes = externalBytes - (this.#externalBytes ?? externalBytes)
    this.#externalBytes = externalBytes
    // The program retains what it receives, so there is little to release.
    const isInVain = retainedBytes * 2 > takenBytes
    this.#periodBytes = isInVain ? Math.min(longestPeriodBytes, this.#periodBytes * 2) : shortestPeriodBytes
    this.#leftBytes = this.#periodBytes
    heap.collectYoung()
    if (this.#longBytes >= bytesPerRoom) this.#makeRoom(heap)
  }

  #makeRoom(heap: FreshHeap): void {
    // The memory that such arrays free is soon needed again.
    this.#shared?.retainFreed()
    // The flag that this sets applies to all threads.
    if (this.#shared?.alone(() => heap.makeRoom()) === true) this.#longBytes = 0
  }
}

/**
 * The least bytes of a long array. Many shorter arrays fit below V8's limit, and arrays that are marked late lie spread
 * over more memory.
 */
export const longBytes = 2 ** 21
/** The shortest period in bytes, less than what V8 takes at least before it begins to mark. */
export const shortestPeriodBytes = 4 * 2 ** 20
/** The longest period in bytes, for programs that retain what they receive. */
export const longestPeriodBytes = 64 * 2 ** 20

/** The most tries, because another thread may clear the flag between its setting and the look-up here. */
const mostTries = 16

/**
 * The bytes of long arrays after which room is made. That takes a collection of the whole heap, for which all ranks of
 * the process wait. It takes some 10 ms if the heap holds 6 MiB, 100 ms if it holds 62 MiB. Programs of few long arrays
 * need none.
 */
export const bytesPerRoom = 64 * 2 ** 20

/**
 * Memory for large values of one call, retained from call to call. Fresh memory costs page faults, zeroing and garbage
 * collections, more than the work done in it. A process retains at most {@link retainedBytes}.
 */
export class Scratch {
  readonly #free: ArrayBuffer[] = []
  #freeBytes = 0

  /** Returns memory of at least this many bytes, with any content, aligned for all elements. */
  take(sizeBytes: number): ArrayBuffer {
    let best = -1
    for (let i = 0; i < this.#free.length; i++) {
      const size = this.#free[i].byteLength
      if (size < sizeBytes || size > 2 * sizeBytes) continue
      if (best < 0 || size < this.#free[best].byteLength) best = i
    }
    if (best < 0) return new ArrayBuffer(sizeBytes)
    const [buffer] = this.#free.splice(best, 1)
    this.#freeBytes -= buffer.byteLength
    return buffer
  }

  /** Returns memory that is no longer read or written, by the fabric either. */
  give(buffer: ArrayBuffer): void {
    if (buffer.byteLength > retainedBytes) return
    this.#free.push(buffer)
    this.#freeBytes += buffer.byteLength
    while (this.#freeBytes > retainedBytes) this.#freeBytes -= this.#free.shift()!.byteLength
  }

  get freeBytes(): number {
    return this.#freeBytes
  }
}

export const retainedBytes = 32 * 2 ** 20
