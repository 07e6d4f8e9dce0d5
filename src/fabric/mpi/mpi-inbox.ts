import { type FrameSink, maxHeaderWords } from '../fabric.js'
import type { MpiLibrary } from './mpi-library.js'
import { MpiMemory } from './mpi-memory.js'
import {
  frameTag,
  kindShift,
  messageHeadBytes,
  mpiFrameBytes,
  mpiPayloadBytes,
  padded,
  smallBytes,
} from './mpi-outbox.js'

/** The receiver of frames, as of a `FrameSink`, and of records of the fabric's own. */
export interface FrameTaker extends Required<Pick<FrameSink, 'frame' | 'inPlace'>> {
  record(src: number, kind: number, header: Int32Array): void
}

const capacity = padded(messageHeadBytes + mpiFrameBytes(maxHeaderWords, mpiPayloadBytes))
/** The number of receives that MPI can match while a message is being handled. */
const receives = 4
const maxUnposted = 1
const headerWordsMask = (1 << kindShift) - 1

const flagAt = 0
const requestsAt = 8

/**
 * The frames from other processes. Persistent receives from any source are posted into buffers of our own, in rotation.
 * MPI matches messages with them in that order, so one is tested at a time: one call per unsuccessful poll, two per
 * message.
 */
export class MpiInbox {
  /** The number of messages received, modulo 2^32. */
  received = 0
  /** The bytes of header and payload of the frame that was delivered last. */
  frameBytes = 0
  readonly #library: MpiLibrary
  readonly #test: (...args: number[]) => void
  readonly #start: (...args: number[]) => void
  readonly #memory: MpiMemory
  readonly #words: Int32Array
  readonly #bytes: Uint8Array
  readonly #flag: number
  readonly #ignore: number
  readonly #requests: readonly number[]
  readonly #offsets: readonly number[]
  #turn = 0
  /** The number of receives before this turn that are not posted again yet: that can wait until the process is idle. */
  #unposted = 0
  /** The sender of the message that is being delivered, its next frame and its end. */
  #src = 0
  #at = 0
  #end = 0
  /** The arrays to lend, by length: making views costs more than copying a few words. */
  readonly #headers = Array.from({ length: maxHeaderWords + 1 }, (_, words) => new Int32Array(words))
  readonly #payloads = Array.from({ length: smallBytes + 1 }, (_, size) => new Uint8Array(size))

  constructor(library: MpiLibrary, comm: number) {
    const { abi, calls, addressOf } = library
    this.#library = library
    this.#test = calls.test
    this.#start = calls.start
    const begin = (requestsAt + receives * 8 + 63) & ~63
    this.#memory = new MpiMemory(begin + receives * capacity, addressOf)
    const { address } = this.#memory
    this.#words = this.#memory.words
    this.#bytes = this.#memory.bytes
    this.#flag = address + flagAt
    this.#ignore = abi.statusIgnore
    const turns = Array.from({ length: receives }, (_, turn) => turn)
    this.#requests = turns.map((turn) => address + requestsAt + turn * abi.handleBytes)
    this.#offsets = turns.map((turn) => begin + turn * capacity)
    for (const turn of turns) {
      const [buffer, request] = [address + this.#offsets[turn], this.#requests[turn]]
      calls.recvInit(buffer, capacity, abi.byte, abi.anySource, frameTag, comm, request)
      calls.start(request)
    }
  }

  /** Delivers the next frame, if one has arrived; false if none has. A taker that throws has received it. */
  next(taker: FrameTaker): boolean {
    if (this.#at === this.#end && !this.#receive()) return false
    const words = this.#words
    const first = this.#at >> 2
    const payloadBytes = words[first]
    const second = words[first + 1]
    const headerWords = second & headerWordsMask
    this.frameBytes = headerWords * 4 + payloadBytes
    const payloadAt = this.#at + mpiFrameBytes(headerWords, 0)
    this.#at += mpiFrameBytes(headerWords, payloadBytes)
    try {
      if (second !== headerWords) {
        taker.record(this.#src, second >> kindShift, this.#header(first + 2, headerWords))
      } else if (!taker.inPlace(this.#src, words, first + 2, this.#bytes, payloadAt, payloadBytes)) {
        taker.frame(this.#src, this.#header(first + 2, headerWords), this.#payload(payloadAt, payloadBytes))
      }
    } finally {
      if (this.#at === this.#end) this.#done()
    }
    return true
  }

  /** Receives and drops the next frame, if one has arrived. */
  discard(): boolean {
    return this.next(discardingTaker)
  }

  /** Cancels the posted receives. No message may still be in flight to this process. */
  close(): void {
    const { calls } = this.#library
    this.#repost()
    for (const request of this.#requests) {
      calls.cancel(request)
      calls.wait(request, this.#ignore)
      calls.requestFree(request)
    }
  }

  /** Tests for the next message. */
  #receive(): boolean {
    const turn = this.#turn
    this.#test(this.#requests[turn], this.#flag, this.#ignore)
    const words = this.#words
    if (words[flagAt >> 2] === 0) {
      if (this.#unposted > 0) this.#repost()
      return false
    }
    const offset = this.#offsets[turn]
    this.#src = words[offset >> 2]
    this.#at = offset + messageHeadBytes
    this.#end = offset + words[(offset >> 2) + 1]
    return true
  }

  #header(at: number, count: number): Int32Array {
    const header = this.#headers[count]
    for (let i = 0; i < count; i++) header[i] = this.#words[at + i]
    return header
  }

  #payload(at: number, sizeBytes: number): Uint8Array {
    if (sizeBytes > smallBytes) return this.#bytes.subarray(at, at + sizeBytes)
    const payload = this.#payloads[sizeBytes]
    for (let i = 0; i < sizeBytes; i++) payload[i] = this.#bytes[at + i]
    return payload
  }

  #done(): void {
    this.received = (this.received + 1) | 0
    this.#turn = (this.#turn + 1) % receives
    if (++this.#unposted > maxUnposted) this.#repost()
  }

  /** Posts the receives in rotation, the order in which MPI will match them. */
  #repost(): void {
    for (; this.#unposted > 0; this.#unposted--) {
      this.#start(this.#requests[(this.#turn - this.#unposted + receives) % receives])
    }
  }
}

const discardingTaker: FrameTaker = { inPlace: () => true, frame: () => {}, record: () => {} }
