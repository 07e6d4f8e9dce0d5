import { copyBytes } from '../../base/bytes.js'
import { maxHeaderWords } from '../fabric.js'

/**
 * A ring of records in shared memory with a single producer and a single consumer, so no lock is needed: each side
 * writes only its own index. Indices count bytes modulo 2^32. The ring's size is a power of two below that, so
 * differences and positions stay exact however many bytes have passed.
 *
 * A record is a word with the payload's size, a word with kind and header size, the header's words, and the payload.
 * Each part is padded to 8 bytes. A record never wraps: if it does not fit before the end, a word of -1 marks that it
 * begins at the start. Hence the reader can lend it in place.
 *
 * The reader polls the writer's index and not the record. It would take the record's cache line while the writer is
 * still filling it, which costs more than the second line.
 */
export interface RingMemory {
  readonly buffer: SharedArrayBuffer
  /** The offset of the control words, a multiple of 64. The data follow at `offset + controlBytes`. */
  readonly offset: number
  /** The size of the data, a power of two. */
  readonly sizeBytes: number
}

/** The places of the writer's index, its request and the reader's index, on separate cache lines. */
const word = { tail: 0, head: 16, spaceRequested: 32 } as const
const controlBytes = 192

export const ringBytes = (sizeBytes: number): number => controlBytes + sizeBytes

/**
 * Returns the largest payload that always fits: a record takes at most half a ring, else a skipped end could leave no
 * space.
 */
export const maxPayloadOf = (sizeBytes: number): number => sizeBytes / 2 - 8 - 64

/**
 * Resets a ring. Indices start shortly before the sign bit, so that every long enough run exercises the overflow of
 * sums.
 */
export function initRing({ buffer, offset, sizeBytes }: RingMemory): void {
  const control = new Int32Array(buffer, offset, controlBytes / 4)
  control[word.tail] = 2 ** 31 - sizeBytes
  control[word.head] = 2 ** 31 - sizeBytes
}

const skip = -1
const prefixBytes = 8
/** The most bytes of a record besides its payload: prefix, the longest header, and the padding of the payload. */
const mostWordsBytes = prefixBytes + maxHeaderWords * 4 + 8
const padded = (bytes: number): number => (bytes + 7) & ~7
/** The size up to which copying byte by byte is faster than `set`. */
const smallBytes = 32
/** The size up to which payloads are copied word by word: a view of the ring would be allocated for each record. */
const wordwiseBytes = 256
/** The number of parts of the ring: the reader releases space when it has read one part, and at the end of a batch. */
const releaseParts = 8

export class RingWriter {
  readonly #control: Int32Array
  readonly #words: Int32Array
  readonly #bytes: Uint8Array
  readonly #sizeBytes: number
  #tail: number
  /** The reader's index when it was last loaded, and the bytes that are free since then. */
  #head: number
  #freeBytes: number

  constructor({ buffer, offset, sizeBytes }: RingMemory) {
    this.#control = new Int32Array(buffer, offset, controlBytes / 4)
    this.#words = new Int32Array(buffer, offset + controlBytes, sizeBytes / 4)
    this.#bytes = new Uint8Array(buffer, offset + controlBytes, sizeBytes)
    this.#sizeBytes = sizeBytes
    this.#head = Atomics.load(this.#control, word.head)
    this.#tail = this.#head
    this.#freeBytes = sizeBytes
  }

  /** Writes a record; false when there is no space for it now. Its payload is `payload` from `from` to `to`. */
  write(
    kind: number,
    header: Int32Array,
    payload: Uint8Array | undefined,
    from: number,
    to: number,
  ): boolean {
    const size = this.#sizeBytes
    const headerWords = header.length
    const payloadBytes = to - from
    const needed = prefixBytes + padded(headerWords * 4) + padded(payloadBytes)
    let at = this.#tail & (size - 1)
    const left = size - at
    const total = needed <= left ? needed : left + needed
    if (this.#freeBytes < total) {
      this.#loadHead()
      if (this.#freeBytes < total) return false
    }
    const words = this.#words
    if (needed > left) {
      words[at >> 2] = skip
      at = 0
    }
    let next = at >> 2
    words[next++] = payloadBytes
    words[next++] = (kind << 8) | headerWords
    for (let i = 0; i < headerWords; i++) words[next + i] = header[i]
    if (payloadBytes > 0) {
      const start = at + prefixBytes + padded(headerWords * 4)
      const bytes = this.#bytes
      if (payloadBytes <= smallBytes) {
        for (let i = 0; i < payloadBytes; i++) bytes[start + i] = payload![from + i]
      } else {
        copyBytes(bytes, start, payloadBytes === payload!.byteLength ? payload! : payload!.subarray(from, to))
      }
    }
    this.#freeBytes -= total
    this.#tail = (this.#tail + total) | 0
    Atomics.store(this.#control, word.tail, this.#tail)
    return true
  }

  #loadHead(): void {
    const head = Atomics.load(this.#control, word.head)
    this.#freeBytes += (head - this.#head) >>> 0
    this.#head = head
  }

  /**
   * Returns the bytes of payload that fit now, in records of at most `pieceBytes` each. Each record also takes the
   * place of its words; one may leave the end of the ring free.
   */
  roomFor(pieceBytes: number): number {
    this.#loadHead()
    const most = pieceBytes + mostWordsBytes
    return Math.max(0, Math.floor((this.#freeBytes - most) / most) * pieceBytes)
  }

  /**
   * Requests a wake message once the reader has released space. Try again after the request: the reader may have read
   * everything.
   */
  requestSpace(): void {
    Atomics.store(this.#control, word.spaceRequested, 1)
  }
}

/** The reading end. Between two calls of `next` it lends the record that the first call reached. */
export class RingReader {
  /** The whole ring, for records that are read in place. */
  readonly words: Int32Array
  readonly bytes: Uint8Array
  /** The kind of the record that `next` reached; its header lies in `words`, its payload in `bytes`. */
  kind = 0
  headerAt = 0
  headerWords = 0
  payloadAt = 0
  payloadBytes = 0
  /** Whether `next` has released space since the owner last reset this: the writer may have requested it. */
  hasReleased = false
  readonly #control: Int32Array
  readonly #sizeBytes: number
  #head: number
  /** The bytes read and not yet released to the writer. */
  #unreleasedBytes = 0
  /** The writer's index when it was last loaded. */
  #tail: number
  /** The arrays to lend, by length: making views costs more than copying a few words. */
  readonly #headers: (Int32Array | undefined)[] = []
  readonly #payloads: ({ readonly bytes: Uint8Array; readonly words: Int32Array } | undefined)[] = []

  constructor({ buffer, offset, sizeBytes }: RingMemory) {
    this.#control = new Int32Array(buffer, offset, controlBytes / 4)
    this.words = new Int32Array(buffer, offset + controlBytes, sizeBytes / 4)
    this.bytes = new Uint8Array(buffer, offset + controlBytes, sizeBytes)
    this.#sizeBytes = sizeBytes
    this.#head = Atomics.load(this.#control, word.head)
    this.#tail = this.#head
  }

  get empty(): boolean {
    if (this.#head !== this.#tail) return false
    this.#tail = Atomics.load(this.#control, word.tail)
    return this.#head === this.#tail
  }

  /** Moves to the next record, if there is one. Its space is free again after the next `release`. */
  next(): boolean {
    if (this.#head === this.#tail) {
      this.#tail = Atomics.load(this.#control, word.tail)
      if (this.#head === this.#tail) return false
    }
    const size = this.#sizeBytes
    // The records before this one have been read.
    if (this.#unreleasedBytes * releaseParts > size) {
      this.#release()
      this.hasReleased = true
    }
    const words = this.words
    let at = this.#head & (size - 1)
    let total = 0
    if (words[at >> 2] === skip) {
      total = size - at
      at = 0
    }
    const first = at >> 2
    const payloadBytes = words[first]
    const second = words[first + 1]
    const headerWords = second & 0xff
    const bytesBefore = prefixBytes + padded(headerWords * 4)
    this.kind = second >> 8
    this.headerAt = first + prefixBytes / 4
    this.headerWords = headerWords
    this.payloadAt = at + bytesBefore
    this.payloadBytes = payloadBytes
    // Count the record before it is delivered: the sink may throw.
    total += bytesBefore + padded(payloadBytes)
    this.#unreleasedBytes += total
    this.#head = (this.#head + total) | 0
    return true
  }

  /** The record's header, in a separate array. */
  get header(): Int32Array {
    const { words, headerAt, headerWords } = this
    this.#headers[headerWords] ??= new Int32Array(headerWords)
    const header = this.#headers[headerWords]
    for (let i = 0; i < headerWords; i++) header[i] = words[headerAt + i]
    return header
  }

  /** The record's payload: a copy if it is short, else a view of the ring. */
  get payload(): Uint8Array {
    const { words, payloadAt, payloadBytes } = this
    if (payloadBytes > wordwiseBytes) return this.bytes.subarray(payloadAt, payloadAt + payloadBytes)
    this.#payloads[payloadBytes] ??= payloadOf(payloadBytes)
    const payload = this.#payloads[payloadBytes]
    const first = payloadAt >> 2
    for (let i = 0; i < payload.words.length; i++) payload.words[i] = words[first + i]
    return payload.bytes
  }

  /** Releases the space of all records read so far to the writer. */
  #release(): void {
    this.#unreleasedBytes = 0
    Atomics.store(this.#control, word.head, this.#head)
  }

  /**
   * Releases the space of all records read so far to the writer. Returns true when the writer has requested a wake
   * message; the request is then taken.
   */
  release(): boolean {
    if (this.#unreleasedBytes === 0) return false
    this.#release()
    return this.takeRequest()
  }

  /** Takes the writer's request for a wake message, if there is one. */
  takeRequest(): boolean {
    if (Atomics.load(this.#control, word.spaceRequested) === 0) return false
    return Atomics.exchange(this.#control, word.spaceRequested, 0) === 1
  }
}

/** The kinds of records in a ring besides those of `bulkRecord`; all but `frame` stay inside the fabric. */
export const recordKind = { frame: 0, forget: 8 } as const

/** Allocates whole words for a payload: records are padded to them. */
function payloadOf(sizeBytes: number) {
  const words = new Int32Array((sizeBytes + 3) >> 2)
  return { bytes: new Uint8Array(words.buffer, 0, sizeBytes), words }
}
