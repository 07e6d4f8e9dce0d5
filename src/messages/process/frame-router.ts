import { RankweaveError, wrongValue } from '../../errors.js'
import type { FrameSink } from '../../fabric/fabric.js'
import type { ProcessCounters } from './counters.js'
import { waitCharge } from './credit.js'
import type { Failures } from './failures.js'
import type { ServiceHandler } from './frame-port.js'
import {
  type ContextId,
  contextKey,
  creditedBytes,
  envelopeWord,
  envelopeWords,
  frameKind,
  headerWord,
  lastCommunicatorKind,
  transferWord,
} from './frames.js'
import type { Progress } from './progress.js'

/** A communicator in this process, as its frames reach it. */
export interface FrameContext {
  readonly id: ContextId
  readonly eagerSink: EagerSink
  frame(src: number, header: Int32Array, payload: Uint8Array): void
  /** @param error the error of an operation that needs process `peer` */
  peerLost(peer: number, error: RankweaveError): void
  fail(error: RankweaveError): void
}

/** Takes late frames of a communicator that has been dropped before all of its frames had arrived. */
export interface RetiredFrames {
  frame(src: number, header: Int32Array, payload: Uint8Array): void
}

/** Takes eager messages in the fabric's memory. */
export interface EagerSink {
  /** Returns true when the message went to its receive; otherwise false, with nothing done. */
  arrive(
    src: number,
    words: Int32Array,
    at: number,
    bytes: Uint8Array,
    payloadAt: number,
    payloadBytes: number,
  ): boolean
}

/** Counts the messages that others send to this process (`Credit`). */
export interface ArrivalCount {
  /**
   * Notes that a message has begun to arrive for which its sender has taken credit.
   *
   * @throws ERR_PROTOCOL
   */
  received(src: number, sizeBytes: number): void
  /**
   * Notes that so many bytes more, or fewer, wait for their communicator.
   *
   * @throws ERR_PROTOCOL
   */
  waits(src: number, sizeBytes: number): void
}

interface EarlyFrame {
  readonly src: number
  readonly header: Int32Array
  readonly payload: Uint8Array
  readonly chargeBytes: number
}

/** Routes the frames that one process receives to the communicator or service they belong to. */
export class FrameRouter<C extends FrameContext> implements FrameSink {
  readonly #counters: ProcessCounters
  readonly #progress: Progress
  readonly #failures: Failures
  readonly #onPeerLost: (peer: number, reason: string) => void
  readonly #onWorldLost: (error: RankweaveError) => void
  readonly #count: ArrivalCount
  readonly #contexts = new Map<number, C>()
  /** The frames of communicators that other processes have opened and this one has not yet, in arrival order. */
  readonly #early = new Map<number, EarlyFrame[]>()
  readonly #retired = new Map<number, RetiredFrames>()
  readonly #reserved = new Set<number>()
  readonly #services = new Map<number, ServiceHandler>()
  /** The context of the last frame, which the next one is for most often. */
  #last: C | undefined

  constructor(
    counters: ProcessCounters,
    progress: Progress,
    failures: Failures,
    count: ArrivalCount,
    onPeerLost: (peer: number, reason: string) => void,
    onWorldLost: (error: RankweaveError) => void = () => {},
  ) {
    this.#counters = counters
    this.#progress = progress
    this.#failures = failures
    this.#onPeerLost = onPeerLost
    this.#onWorldLost = onWorldLost
    this.#count = count
    failures.listen({
      peerLost: (peer, error) => {
        for (const context of this.#contexts.values()) context.peerLost(peer, error)
        this.#forget(peer)
      },
      ended: (error) => {
        for (const context of this.#contexts.values()) context.fail(error)
        this.#early.clear()
        this.#retired.clear()
      },
    })
  }

  get contexts(): Iterable<C> {
    return this.#contexts.values()
  }

  /** Reserves a name; returns false if a communicator of this name is open here, was retired or is reserved. */
  reserve(id: ContextId): boolean {
    const key = contextKey(id)
    if (this.#contexts.has(key) || this.#retired.has(key) || this.#reserved.has(key)) return false
    this.#reserved.add(key)
    return true
  }

  /** Opens a communicator here and delivers the frames that arrived for it earlier. */
  open(id: ContextId, make: () => C): C {
    const key = contextKey(id)
    if (this.#contexts.has(key)) {
      throw new RankweaveError('ERR_WORLD', `context ${id.leader}.${id.counter} exists already`)
    }
    const context = make()
    this.#reserved.delete(key)
    this.#contexts.set(key, context)
    const early = this.#early.get(key)
    this.#early.delete(key)
    for (const { src, header, payload, chargeBytes } of early ?? []) {
      this.#count.waits(src, -chargeBytes)
      context.frame(src, header, payload)
    }
    return context
  }

  /**
   * Forgets frames of a lost process. Its messages that have arrived stay, free of charge; the rest can no longer
   * complete.
   */
  #forget(lost: number): void {
    for (const [key, early] of this.#early) {
      const whole = wholeMessages(early.filter(({ src }) => src === lost))
      for (const { src, chargeBytes } of early) if (src === lost) this.#count.waits(src, -chargeBytes)
      const left = early
        .filter((frame) => frame.src !== lost || whole.has(frame))
        .map((frame) => (frame.src === lost ? { ...frame, chargeBytes: 0 } : frame))
      if (left.length === 0) this.#early.delete(key)
      else this.#early.set(key, left)
    }
  }

  find(id: ContextId): C | undefined {
    return this.#contexts.get(contextKey(id))
  }

  /** Drops a communicator. The caller has made sure that no frame of it is in flight to this process. */
  close(id: ContextId): C | undefined {
    const key = contextKey(id)
    const context = this.#contexts.get(key)
    this.#contexts.delete(key)
    this.#last = undefined
    return context
  }

  /** Drops a communicator of which frames may still arrive; `rest` takes them. */
  retire(id: ContextId, rest: RetiredFrames): void {
    this.close(id)
    this.#retired.set(contextKey(id), rest)
  }

  hasRetired(id: ContextId): boolean {
    return this.#retired.has(contextKey(id))
  }

  onService(kind: number, handler: ServiceHandler): void {
    this.#services.set(kind, handler)
  }

  /**
   * @throws ERR_PROTOCOL for a header that names no communicator, and for a process that exceeds its credit, or the
   *   limit of frames that wait here
   */
  frame(src: number, header: Int32Array, payload: Uint8Array): void {
    const progress = this.#progress
    progress.framesHandedOn++
    const kind = header[headerWord.kind]
    if (kind !== frameKind.stuck) {
      // The agreement on being stuck compares these counts, so it must not change them.
      const counters = this.#counters
      counters.framesReceived++
      counters.frameBytesReceived += header.length * 4 + payload.length
    }
    progress.frameArrived()
    // Frames other than the agreement to close the world are dropped once it has ended.
    if (this.#failures.ended !== undefined && kind !== frameKind.worldEnd && kind !== frameKind.quiesce)
      return
    if (kind > lastCommunicatorKind) {
      this.#services.get(kind)?.(src, header, payload)
      return
    }
    // This frame would wait for a communicator that no rank can open.
    if (header.length <= headerWord.counter) {
      throw new RankweaveError('ERR_PROTOCOL', `a frame without a communicator: ${header.length} words`)
    }
    const sizeBytes = creditedBytes(header)
    if (sizeBytes >= 0) {
      // A waiting message is charged the size that it states.
      if (payload.length > sizeBytes)
        throw wrongValue(
          'ERR_PROTOCOL',
          `a message of ${sizeBytes} bytes: expected no more in its frame`,
          payload.length,
        )
      this.#count.received(src, sizeBytes)
    }
    const leader = header[headerWord.leader]
    const counter = header[headerWord.counter]
    const last = this.#last
    if (last !== undefined && last.id.counter === counter && last.id.leader === leader) {
      last.frame(src, header, payload)
      return
    }
    const key = contextKey({ leader, counter })
    const context = this.#contexts.get(key)
    if (context !== undefined) {
      this.#last = context
      context.frame(src, header, payload)
      return
    }
    const retired = this.#retired.get(key)
    if (retired !== undefined) {
      retired.frame(src, header, payload)
      return
    }
    // The bytes of a message with credit are charged there.
    const chargeBytes = waitCharge.frame + (sizeBytes >= 0 ? 0 : header.length * 4 + payload.length)
    this.#count.waits(src, chargeBytes)
    // The memory is borrowed, so a frame that has to wait is copied.
    const early = this.#early.get(key) ?? []
    early.push({ src, header: header.slice(), payload: payload.slice(), chargeBytes })
    this.#early.set(key, early)
  }

  /** Matches an eager message in place, without a copy, if it is of the communicator that got the last frame. */
  inPlace(
    src: number,
    words: Int32Array,
    headerAt: number,
    bytes: Uint8Array,
    payloadAt: number,
    payloadBytes: number,
  ): boolean {
    const last = this.#last
    if (
      words[headerAt + headerWord.kind] !== frameKind.eager ||
      this.#failures.ended !== undefined ||
      last === undefined ||
      last.id.counter !== words[headerAt + headerWord.counter] ||
      last.id.leader !== words[headerAt + headerWord.leader] ||
      !last.eagerSink.arrive(src, words, headerAt, bytes, payloadAt, payloadBytes)
    ) {
      return false
    }
    this.#count.received(src, payloadBytes)
    const counters = this.#counters
    counters.framesReceived++
    counters.frameBytesReceived += envelopeWords * 4 + payloadBytes
    this.#progress.frameArrived()
    return true
  }

  peerLost(peer: number, reason: string): void {
    if (this.#failures.lose(peer, reason)) this.#onPeerLost(peer, reason)
  }

  worldLost(error: RankweaveError): void {
    this.#onWorldLost(error)
  }
}

/**
 * Returns the frames that make complete messages, of those of one process for one communicator, in their order.
 * Complete are eager messages of which all has arrived, and those in shared memory.
 */
function wholeMessages(frames: readonly EarlyFrame[]): ReadonlySet<EarlyFrame> {
  const whole = new Set<EarlyFrame>()
  const begun = new Map<number, { leftBytes: number; readonly frames: EarlyFrame[] }>()
  for (const frame of frames) {
    const { header, payload } = frame
    const kind = header[headerWord.kind]
    if (kind === frameKind.shared) whole.add(frame)
    const isFirst = kind === frameKind.eager
    if (!isFirst && kind !== frameKind.data) continue
    const transferId = header[isFirst ? envelopeWord.transferId : transferWord.transferId]
    if (isFirst) begun.set(transferId, { leftBytes: header[envelopeWord.sizeBytes] >>> 0, frames: [] })
    const message = begun.get(transferId)
    if (message === undefined) continue
    message.frames.push(frame)
    message.leftBytes -= payload.length
    if (message.leftBytes > 0) continue
    if (message.leftBytes === 0) for (const part of message.frames) whole.add(part)
    begun.delete(transferId)
  }
  return whole
}
