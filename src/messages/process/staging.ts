import { copyBytes } from '../../base/bytes.js'
import type { MemoryLocation, StagingMemory } from '../../fabric/fabric.js'
import { FreeRanges } from './free-ranges.js'

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
