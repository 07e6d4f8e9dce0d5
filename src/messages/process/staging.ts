import { copyBytes, roundUp } from '../../base/bytes.js'
import type { MemoryLocation, StagingMemory } from '../../fabric/fabric.js'

export type { MemoryLocation }

/**
 * Copies of payloads in memory that the other processes read in place: one copy serves any number of readers, which
 * need not request it first. The fabric bounds its memory (`StagingMemory`); payloads that find no room there are sent
 * otherwise.
 */
export class Staging {
  readonly #fabric: StagingMemory
  #memory: Uint8Array | undefined
  #free: FreeRanges | undefined
  readonly #reserved = new Map<object, Uint8Array[]>()
  #reservedBytes = 0

  constructor(fabric: StagingMemory) {
    this.#fabric = fabric
  }

  get freeBytes(): number {
    return this.#ranges().freeBytes
  }

  isSharedWith(process: number): boolean {
    return this.#fabric.isSharedWith(process)
  }

  /** Returns a copy, which lives until all of its readers have been released; undefined if there is no room for it. */
  copy(bytes: Uint8Array): StagedCopy | undefined {
    const free = this.#ranges()
    // The original may be detached before the copy is released.
    const { byteLength } = bytes
    const at = free.take(byteLength)
    if (at < 0) return undefined
    const memory = this.#memory!
    copyBytes(memory, at, bytes)
    return new StagedCopy(this.#fabric, memory.subarray(at, at + byteLength), () => free.give(at, byteLength))
  }

  /**
   * Reserves memory that this process writes repeatedly and others read; undefined if there is no room: at most a
   * quarter of the memory is reserved at a time.
   *
   * @param owner until {@link release} of which it is reserved
   */
  reserve(sizeBytes: number, owner: object): Uint8Array | undefined {
    const free = this.#ranges()
    const memory = this.#memory!
    if (this.#reservedBytes + sizeBytes > memory.byteLength / 4) return undefined
    const at = free.take(sizeBytes)
    if (at < 0) return undefined
    const ranges = this.#reserved.get(owner) ?? []
    this.#reserved.set(owner, ranges)
    const reserved = memory.subarray(at, at + sizeBytes)
    ranges.push(reserved)
    this.#reservedBytes += sizeBytes
    return reserved
  }

  /** Gives back memory of {@link reserve} that will not be read, and never was. */
  giveBack(reserved: Uint8Array, owner: object): void {
    const ranges = this.#reserved.get(owner)!
    ranges.splice(ranges.indexOf(reserved), 1)
    this.#give(reserved)
  }

  /** Releases memory reserved for this owner, which is no longer read. */
  release(owner: object): void {
    for (const reserved of this.#reserved.get(owner) ?? []) this.#give(reserved)
    this.#reserved.delete(owner)
  }

  #give({ byteOffset, byteLength }: Uint8Array): void {
    this.#free!.give(byteOffset - this.#memory!.byteOffset, byteLength)
    this.#reservedBytes -= byteLength
  }

  locate(process: number, bytes: Uint8Array): MemoryLocation {
    return this.#fabric.locate(process, bytes)!
  }

  reach(process: number, location: MemoryLocation, sizeBytes: number): Uint8Array {
    return this.#fabric.reach(process, location, sizeBytes)
  }

  #ranges(): FreeRanges {
    this.#memory ??= this.#fabric.memory()
    this.#free ??= new FreeRanges(this.#memory.byteLength)
    return this.#free
  }
}

export class StagedCopy {
  readonly bytes: Uint8Array
  readonly #fabric: StagingMemory
  readonly #free: () => void
  #readers = 0

  constructor(fabric: StagingMemory, bytes: Uint8Array, free: () => void) {
    this.#fabric = fabric
    this.bytes = bytes
    this.#free = free
  }

  /** Adds a reader, which must be able to read it; returns where it finds the copy. */
  addReader(process: number): MemoryLocation {
    this.#readers++
    return this.#fabric.locate(process, this.bytes)!
  }

  get isRead(): boolean {
    return this.#readers > 0
  }

  release(): void {
    this.#readers--
    if (this.#readers === 0) this.#free()
  }
}

/** Returns the payload of a frame that names a message which its receiver can read in place. */
export function encodeLocation({ segment, byteOffset }: MemoryLocation): Uint8Array {
  return new Uint8Array(Float64Array.of(segment, byteOffset).buffer)
}

export function decodeLocation(payload: Uint8Array): MemoryLocation {
  const [segment, byteOffset] = new Float64Array(payload.slice().buffer)
  return { segment: segment, byteOffset: byteOffset }
}

/**
 * The bytes at the start from which free ranges are taken in turn; the rest is used only when these are taken. Memory
 * whose last content is still in the cache of another core costs up to ten times as much to write (record 0009). These
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
