import { maxHeaderWords } from '../fabric.js'
import { Queue } from '../queue.js'
import type { MpiLibrary } from './mpi-library.js'
import { MpiMemory } from './mpi-memory.js'

/**
 * An MPI message carries one or more frames of one sender. It begins with the sender and the message's size in bytes, a
 * word each, so MPI's status is not needed. A frame is a word with the payload's size, a word with its kind and the
 * header's size, the header and the payload. Each part is padded to 8 bytes. All kinds but 0 are records of the
 * fabric's own.
 */
export const messageHeadBytes = 8

/** The shift of the kind in the word with the header's size, which takes the bits below. */
export const kindShift = 8

/** The tag of all messages with frames; those of bulk transfers have larger ones. */
export const frameTag = 0

/** The largest payload of a frame. Larger ones go by bulk transfer. */
export const mpiPayloadBytes = 65_536

const framePrefixBytes = 8

export const padded = (bytes: number): number => (bytes + 7) & ~7

export const mpiFrameBytes = (headerWords: number, payloadBytes: number): number =>
  framePrefixBytes + padded(headerWords * 4) + padded(payloadBytes)

/** The size below which copying byte by byte is faster than `set`, and copying is faster than making a view. */
export const smallBytes = 32

/** Writes a frame at a multiple of 8. */
export function writeFrame(
  words: Int32Array,
  bytes: Uint8Array,
  at: number,
  header: Int32Array,
  payload: Uint8Array | undefined,
  kind: number,
): void {
  const headerWords = header.length
  const payloadBytes = payload === undefined ? 0 : payload.byteLength
  const first = at >> 2
  words[first] = payloadBytes
  words[first + 1] = (kind << kindShift) | headerWords
  for (let i = 0; i < headerWords; i++) words[first + 2 + i] = header[i]
  if (payloadBytes === 0) return
  const start = at + framePrefixBytes + padded(headerWords * 4)
  if (payloadBytes > smallBytes) bytes.set(payload!, start)
  else for (let i = 0; i < payloadBytes; i++) bytes[start + i] = payload![i]
}

/** A frame for which there was no slot: the fabric's own copy. */
interface Queued {
  readonly kind: number
  readonly header: Int32Array
  readonly payload: Uint8Array
}

/** The largest message that travels eagerly through shared memory on every library we know. */
const smallCapacity = 4032
const smallSlots = 64
const largeCapacity = padded(messageHeadBytes + mpiFrameBytes(maxHeaderWords, mpiPayloadBytes))
const largeSlots = 16
const slots = smallSlots + largeSlots
/**
 * The most copies of frames waiting for a slot whose memory is retained for later ones: 4 MiB at most. Other copies
 * have the length of their frame.
 */
const mostSpares = 64
/** The size below which frames are copied to memory of their length, which is cheap to allocate. */
const leastSpareBytes = 4096
/**
 * The distance between slots. It is not a multiple of 4096, or the beginnings of all slots would compete for one set of
 * the cache.
 */
const smallStride = smallCapacity + 128

const none = -1

/**
 * Sends frames to other processes. MPI sends from slots of our own. A slot is free again when its send has completed.
 * Sends are tested all at once when slots run out, so that a message costs one call. The first frame to a peer since
 * the last poll is sent at once, with the records that wait for it. Later frames are collected per peer and sent
 * together: when the slot is full, at the next poll, or when the sending code returns to the event loop or awaits.
 */
export class MpiOutbox {
  /** The number of messages sent to each peer, modulo 2^32. */
  readonly sentMessages: Int32Array
  readonly #isend: (...args: number[]) => void
  readonly #testsome: (...args: number[]) => void
  readonly #library: MpiLibrary
  readonly #comm: number
  readonly #memory: MpiMemory
  readonly #words: Int32Array
  readonly #bytes: Uint8Array
  readonly #offsets: readonly number[]
  readonly #used = new Int32Array(slots)
  readonly #freeSmall: number[] = []
  readonly #freeLarge: number[] = []
  readonly #outcountAt: number
  readonly #indicesAt: number
  /** The slot that collects frames, by peer. */
  readonly #open: Int32Array
  /** The peers that may have an open slot. */
  readonly #opened: number[] = []
  /** The number of the last poll before a frame was sent at once, by peer. */
  readonly #sentAtPoll: Float64Array
  #polls = 0
  readonly #queues: readonly Queue<Queued>[]
  #queued = 0
  readonly #spares: Uint8Array[] = []
  /** The number of copies that were made. */
  #made = 0
  #flushing = false

  constructor(library: MpiLibrary, comm: number, process: number, processes: number) {
    const { abi, calls, addressOf } = library
    this.#library = library
    this.#isend = calls.isend
    this.#testsome = calls.testsome
    this.#comm = comm
    this.sentMessages = new Int32Array(processes)
    this.#outcountAt = padded(slots * 8)
    this.#indicesAt = this.#outcountAt + 8
    const begin = (this.#indicesAt + slots * 4 + 63) & ~63
    this.#offsets = Array.from({ length: slots }, (_, slot) =>
      slot < smallSlots
        ? begin + slot * smallStride
        : begin + smallSlots * smallStride + (slot - smallSlots) * largeCapacity,
    )
    this.#memory = new MpiMemory(begin + smallSlots * smallStride + largeSlots * largeCapacity, addressOf)
    this.#words = this.#memory.words
    this.#bytes = this.#memory.bytes
    for (let slot = slots - 1; slot >= 0; slot--) {
      this.#memory.setNumber(slot * abi.handleBytes, abi.handleBytes, abi.requestNull)
      this.#release(slot)
      this.#words[this.#offsets[slot] >> 2] = process
    }
    this.#open = new Int32Array(processes).fill(none)
    this.#sentAtPoll = new Float64Array(processes).fill(none)
    this.#queues = Array.from({ length: processes }, () => new Queue<Queued>())
  }

  /** Whether frames wait here: to be sent together, or for a slot. */
  get waiting(): boolean {
    return this.#queued > 0 || this.#opened.length > 0
  }

  send(peer: number, header: Int32Array, payload: Uint8Array | undefined): void {
    if (this.#queues[peer].size > 0 || !this.#place(peer, header, payload, 0)) {
      this.#queues[peer].push({
        kind: 0,
        header: header.slice(),
        payload: payload === undefined ? empty : this.#copyOf(payload),
      })
      this.#queued++
      return
    }
    const slot = this.#open[peer]
    if (slot === none) return
    if (this.#sentAtPoll[peer] !== this.#polls) {
      this.#sentAtPoll[peer] = this.#polls
      this.#post(peer, slot)
    } else this.#flushSoon()
  }

  /**
   * Posts a record of the fabric's own: it travels with the next frame to that peer, or when the collected frames are
   * sent.
   */
  post(peer: number, kind: number, header: Int32Array): void {
    if (this.#queues[peer].size === 0 && this.#place(peer, header, undefined, kind)) this.#flushSoon()
    else {
      this.#queues[peer].push({ kind, header: header.slice(), payload: empty })
      this.#queued++
    }
  }

  /** Sends the collected frames, because the process is about to poll. */
  beforePoll(): void {
    this.#polls++
    if (this.#opened.length > 0 || this.#queued > 0) this.flush()
  }

  /** Sends what waits, as far as there are slots. */
  flush(): void {
    if (this.#queued > 0) this.#unqueue()
    for (const peer of this.#opened) {
      const slot = this.#open[peer]
      if (slot !== none) this.#post(peer, slot)
    }
    this.#opened.length = 0
  }

  /** Returns true once every slot is free. */
  drained(): boolean {
    this.flush()
    if (this.#queued > 0) return false
    this.#reclaim()
    return this.#freeSmall.length + this.#freeLarge.length === slots
  }

  #flushSoon(): void {
    if (this.#flushing) return
    this.#flushing = true
    queueMicrotask(this.#flushLater)
  }

  readonly #flushLater = (): void => {
    this.#flushing = false
    this.flush()
  }

  #unqueue(): void {
    this.#queues.forEach((queue, peer) => {
      for (let next = queue.peek(); next !== undefined; next = queue.peek()) {
        if (!this.#place(peer, next.header, next.payload, next.kind)) return
        queue.take()
        this.#queued--
        if (next.payload.buffer.byteLength === mpiPayloadBytes && this.#spares.length < mostSpares)
          this.#spares.push(new Uint8Array(next.payload.buffer))
      }
    })
  }

  /** Copies a payload, into memory of an earlier copy if it is long: fresh memory for each costs several copies. */
  #copyOf(payload: Uint8Array): Uint8Array {
    if (payload.byteLength < leastSpareBytes || payload.byteLength > mpiPayloadBytes)
      return new Uint8Array(payload)
    let spare = this.#spares.pop()
    if (spare === undefined) {
      if (this.#made === mostSpares) return new Uint8Array(payload)
      this.#made++
      spare = new Uint8Array(mpiPayloadBytes)
    }
    spare.set(payload)
    return spare.subarray(0, payload.byteLength)
  }

  /** Writes a frame into the peer's open slot, or a new one; false when no slot is free. */
  #place(peer: number, header: Int32Array, payload: Uint8Array | undefined, kind: number): boolean {
    const needed = mpiFrameBytes(header.length, payload === undefined ? 0 : payload.byteLength)
    let slot = this.#open[peer]
    if (slot !== none && this.#used[slot] + needed > capacityOf(slot)) {
      this.#post(peer, slot)
      slot = none
    }
    if (slot === none) {
      slot = this.#take(messageHeadBytes + needed <= smallCapacity)
      if (slot === none) return false
      this.#used[slot] = messageHeadBytes
      this.#open[peer] = slot
      this.#opened.push(peer)
    }
    const used = this.#used[slot]
    writeFrame(this.#words, this.#bytes, this.#offsets[slot] + used, header, payload, kind)
    this.#used[slot] = used + needed
    return true
  }

  #post(peer: number, slot: number): void {
    const offset = this.#offsets[slot]
    const used = this.#used[slot]
    const { abi } = this.#library
    const { address } = this.#memory
    this.#words[(offset >> 2) + 1] = used
    this.#isend(
      address + offset,
      used,
      abi.byte,
      peer,
      frameTag,
      this.#comm,
      address + slot * abi.handleBytes,
    )
    this.sentMessages[peer]++
    this.#open[peer] = none
    if (this.#opened.length > 0 && this.#opened[this.#opened.length - 1] === peer) this.#opened.pop()
  }

  #take(small: boolean): number {
    const slot = this.#pop(small)
    if (slot !== none) return slot
    this.#reclaim()
    return this.#pop(small)
  }

  #pop(small: boolean): number {
    if (small && this.#freeSmall.length > 0) return this.#freeSmall.pop()!
    return this.#freeLarge.pop() ?? none
  }

  #release(slot: number): void {
    if (slot < smallSlots) this.#freeSmall.push(slot)
    else this.#freeLarge.push(slot)
  }

  #reclaim(): void {
    const { address } = this.#memory
    const { statusIgnore } = this.#library.abi
    this.#testsome(slots, address, address + this.#outcountAt, address + this.#indicesAt, statusIgnore)
    // The count is negative when no request was active.
    const count = this.#words[this.#outcountAt >> 2]
    for (let i = 0; i < count; i++) this.#release(this.#words[(this.#indicesAt >> 2) + i])
  }
}

const capacityOf = (slot: number): number => (slot < smallSlots ? smallCapacity : largeCapacity)

const empty = new Uint8Array(0)
