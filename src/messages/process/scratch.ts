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
