import { type MessagePort, receiveMessageOnPort } from 'node:worker_threads'
import { RankweaveError } from '../../errors.js'
import type { MemoryLocation, MemorySharing, StagingMemory } from '../fabric.js'

/** A message on a port between two processes other than `0`, the wake message. */
export interface SegmentMessage {
  readonly segment: number
  readonly buffer: SharedArrayBuffer
}

/** The services that shared memory needs from its process. */
interface SharingHost {
  readonly ports: readonly (MessagePort | null)[]
  /** Handles a message that was taken from a port: a wake message or a segment. */
  taken(peer: number, message: 0 | SegmentMessage): void
  /** Announces to a peer, behind all frames sent to it, that no later frame will refer to a segment. */
  forget(peer: number, segment: number): void
}

/** The most bytes of staging memory of a process; pages that are never used are never backed by memory. */
const mostStagingBytes = 64 * 2 ** 20
const allStagingBytes = 512 * 2 ** 20

interface Segment {
  readonly id: number
  /** The processes that it was announced to. */
  readonly knownBy: Set<number>
}

/**
 * The buffers in shared memory that peers can read. A peer gets a buffer by the port between the two, before the first
 * frame that refers to it. It retains the buffer until the owner's program holds it no longer, which the garbage
 * collector reports. All of it ends with the worker threads.
 */
export class ThreadsSharing implements MemorySharing, StagingMemory {
  readonly #host: SharingHost
  readonly #own = new WeakMap<SharedArrayBuffer, Segment>()
  /** The segments of each peer that this process retains. */
  readonly #theirs: Map<number, SharedArrayBuffer>[]
  readonly #collected = new FinalizationRegistry<Segment>(({ id, knownBy }) => {
    for (const peer of knownBy) this.#host.forget(peer, id)
  })
  readonly #stagingBytes: number
  #staging: Uint8Array | undefined
  #lastId = 0

  constructor(host: SharingHost) {
    this.#host = host
    this.#stagingBytes = Math.min(mostStagingBytes, Math.floor(allStagingBytes / host.ports.length))
    this.#theirs = host.ports.map(() => new Map())
  }

  /** The number of segments of other processes that are held here. */
  get heldSegments(): number {
    return this.#theirs.reduce((sum, segments) => sum + segments.size, 0)
  }

  alloc(sizeBytes: number): SharedArrayBuffer {
    return new SharedArrayBuffer(sizeBytes)
  }

  isSharedWith(peer: number): boolean {
    return this.#host.ports[peer] !== null
  }

  memory(): Uint8Array {
    this.#staging ??= new Uint8Array(stagingMemory(this.#stagingBytes))
    return this.#staging
  }

  locate(peer: number, { buffer, byteOffset }: Uint8Array): MemoryLocation | undefined {
    if (!(buffer instanceof SharedArrayBuffer)) return undefined
    const port = this.#host.ports[peer]
    if (port === null || port === undefined) return undefined
    let segment = this.#own.get(buffer)
    if (segment === undefined) {
      segment = { id: ++this.#lastId, knownBy: new Set() }
      this.#own.set(buffer, segment)
      this.#collected.register(buffer, segment)
    }
    if (!segment.knownBy.has(peer)) {
      segment.knownBy.add(peer)
      port.postMessage({ segment: segment.id, buffer } satisfies SegmentMessage)
    }
    return { segment: segment.id, byteOffset }
  }

  reach(peer: number, { segment, byteOffset }: MemoryLocation, sizeBytes: number): Uint8Array {
    const buffer = this.#theirs[peer].get(segment) ?? this.#awaited(peer, segment)
    return new Uint8Array(buffer, byteOffset, sizeBytes)
  }

  learn(peer: number, { segment, buffer }: SegmentMessage): void {
    this.#theirs[peer].set(segment, buffer)
  }

  forget(peer: number, segment: number): void {
    this.#theirs[peer].delete(segment)
  }

  clear(): void {
    for (const segments of this.#theirs) segments.clear()
  }

  /** Takes the message with the segment from the port, because the ring was faster than the event loop. */
  #awaited(peer: number, segment: number): SharedArrayBuffer {
    const port = this.#host.ports[peer]!
    for (;;) {
      const next = receiveMessageOnPort(port)
      if (next === undefined) break
      this.#host.taken(peer, next.message as 0 | SegmentMessage)
      const buffer = this.#theirs[peer].get(segment)
      if (buffer !== undefined) return buffer
    }
    throw new RankweaveError('ERR_FABRIC', `process ${peer} never announced its memory segment ${segment}`)
  }
}

function stagingMemory(sizeBytes: number): SharedArrayBuffer {
  try {
    return new SharedArrayBuffer(sizeBytes)
  } catch {
    // Address space is limited; without the memory, payloads go through the rings.
    return new SharedArrayBuffer(0)
  }
}
