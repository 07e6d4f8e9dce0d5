import { copyBytes, roundUp } from '../base/bytes.js'
import { RankweaveError } from '../errors.js'
import { bulkRecord } from '../fabric/bulk-transfers.js'
import { maxHeaderWords } from '../fabric/fabric.js'

// A binary message between two processes is a batch of frames, all numbers little-endian:
//
//   sequence u32 | bytes of the message u32 | frames frame: words of the header u16 | kind u16 | bytes of the
//   payload u32 | header | payload | zeros up to 8 bytes
//
// A link numbers its messages in each direction from 0, modulo 2^32.

/**
 * The kinds of frames: the program's frames, and the records of bulk transfers (`bulkRecord`), which stay inside the
 * fabric.
 */
export const plainFrame = 0

/** The largest payload of a frame of the program, in bytes. */
export const batchPayloadBytes = 2 ** 16
/** The largest payload of a piece of a bulk transfer, in bytes. */
export const pieceBytes = 2 ** 18

/** The bytes before the frames of a message, and before the header of a frame. */
export const headBytes = 8
const frameHeadBytes = 8

/** The bytes of the largest frame of the program, and of a piece. */
const largestFrameBytes = batchedFrameBytes(maxHeaderWords, batchPayloadBytes)
/** The bytes of a batch, which takes every frame of the program, and is sent when the next one does not fit. */
export const batchBytes = headBytes + largestFrameBytes
/** The bytes of a message with one piece. */
export const pieceMessageBytes = headBytes + batchedFrameBytes(maxHeaderWords, pieceBytes)

const nothing = new Uint8Array(0)
const noHeader = new Int32Array(0)

/** Returns the bytes of a frame in a message. */
export function batchedFrameBytes(headerWords: number, payloadBytes: number): number {
  return roundUp(frameHeadBytes + headerWords * 4 + payloadBytes, 8)
}

/** A message that is being filled with frames. Its memory is reused. */
export class Batch {
  readonly bytes: Uint8Array<ArrayBuffer>
  readonly #view: DataView
  /** The number of bytes filled so far. */
  length = headBytes

  constructor(capacity: number) {
    this.bytes = new Uint8Array(capacity)
    this.#view = new DataView(this.bytes.buffer)
  }

  get isEmpty(): boolean {
    return this.length === headBytes
  }

  hasSpaceFor(headerWords: number, payloadBytes: number): boolean {
    return this.length + batchedFrameBytes(headerWords, payloadBytes) <= this.bytes.length
  }

  clear(): void {
    this.length = headBytes
  }

  /** Appends a frame with the bytes of `payload` from `from` to `to`. The caller has checked that there is space. */
  add(kind: number, header: Int32Array, payload: Uint8Array | undefined, from: number, to: number): void {
    const { bytes } = this
    const view = this.#view
    let at = this.length
    view.setUint16(at, header.length, true)
    view.setUint16(at + 2, kind, true)
    view.setUint32(at + 4, to - from, true)
    at += frameHeadBytes
    for (let n = 0; n < header.length; n++, at += 4) view.setInt32(at, header[n], true)
    if (payload !== undefined && to > from) {
      const whole = from === 0 && to === payload.length
      copyBytes(bytes, at, whole ? payload : payload.subarray(from, to))
      at += to - from
    }
    const end = roundUp(at, 8)
    while (at < end) bytes[at++] = 0
    this.length = end
  }

  /** Completes the message and returns a view of the batch. */
  seal(sequence: number): Uint8Array<ArrayBuffer> {
    this.#view.setUint32(0, sequence, true)
    this.#view.setUint32(4, this.length, true)
    return this.bytes.subarray(0, this.length)
  }
}

/** Reads messages frame by frame, after all of a message has been checked. Allocates nothing but views. */
export class BatchReader {
  /** The kind of the current frame; the next frame overwrites `header`. */
  kind = 0
  header: Int32Array = noHeader
  payload: Uint8Array = nothing
  /** The arrays for headers, by length. */
  readonly #headers = Array.from({ length: maxHeaderWords + 1 }, (_, words) => new Int32Array(words))
  #bytes: Uint8Array = nothing
  #at = 0

  /**
   * Begins a message.
   *
   * @param sequence the number that it must have
   * @throws ERR_PROTOCOL for a message that is truncated, repeated, out of order, or not a batch of frames; the reader
   *   then has none
   */
  open(message: Uint8Array, sequence: number): void {
    this.close()
    checkMessage(message, sequence)
    this.#bytes = message
    this.#at = headBytes
  }

  /** Moves to the next frame; false at the end of the message. */
  next(): boolean {
    const bytes = this.#bytes
    let at = this.#at
    if (at >= bytes.length) {
      this.close()
      return false
    }
    const headerWords = u16(bytes, at)
    const payloadBytes = i32(bytes, at + 4) >>> 0
    this.kind = u16(bytes, at + 2)
    this.#at = at + batchedFrameBytes(headerWords, payloadBytes)
    at += frameHeadBytes
    const header = this.#headers[headerWords]
    for (let n = 0; n < headerWords; n++, at += 4) header[n] = i32(bytes, at)
    this.header = header
    this.payload = payloadBytes === 0 ? nothing : bytes.subarray(at, at + payloadBytes)
    return true
  }

  /** Forgets the message. */
  close(): void {
    this.payload = this.#bytes = nothing
    this.#at = 0
  }
}

// A view of every message would cost more than combining the bytes of a number.

function u16(bytes: Uint8Array, at: number): number {
  return bytes[at] | (bytes[at + 1] << 8)
}

function i32(bytes: Uint8Array, at: number): number {
  return bytes[at] | (bytes[at + 1] << 8) | (bytes[at + 2] << 16) | (bytes[at + 3] << 24)
}

/** The number of words in the record of a bulk transfer. */
const bulkHeaderWords = 7

function checkMessage(message: Uint8Array, sequence: number): void {
  const byteLength = message.length
  if (byteLength < headBytes + frameHeadBytes || byteLength % 8 !== 0) {
    throw malformed(`a batch of frames, got ${byteLength} bytes`)
  }
  const number = i32(message, 0) >>> 0
  if (number !== sequence) throw malformed(`message ${sequence} of the link, got ${number}`)
  const announced = i32(message, 4) >>> 0
  if (announced !== byteLength) throw malformed(`${announced} bytes as announced, got ${byteLength}`)
  for (let at = headBytes; at < byteLength; ) {
    // A multiple of 8 bytes is left, so the head of a frame is complete.
    const headerWords = u16(message, at)
    const kind = u16(message, at + 2)
    const payloadBytes = i32(message, at + 4) >>> 0
    if (headerWords > maxHeaderWords) throw malformed(`at most ${maxHeaderWords} words, got ${headerWords}`)
    const most = largestPayload(kind, headerWords)
    if (payloadBytes > most) {
      throw malformed(`at most ${most} bytes of payload in a frame of kind ${kind}, got ${payloadBytes}`)
    }
    at += batchedFrameBytes(headerWords, payloadBytes)
    if (at > byteLength) throw malformed(`a frame that ends with the message, got one that ends at ${at}`)
  }
}

function largestPayload(kind: number, headerWords: number): number {
  if (kind === plainFrame) return batchPayloadBytes
  if (kind > bulkRecord.stopped) throw malformed(`a kind of frame, got ${kind}`)
  if (headerWords !== bulkHeaderWords) {
    throw malformed(`${bulkHeaderWords} words in the record of a bulk transfer, got ${headerWords}`)
  }
  return kind === bulkRecord.data ? pieceBytes : 0
}

function malformed(expected: string): RankweaveError {
  return new RankweaveError('ERR_PROTOCOL', `expected ${expected}`)
}

/** A pool of memory for messages of one size, reused if the network has taken them at once. */
export class BatchPool {
  readonly #capacity: number
  readonly #mostIdle: number
  readonly #idle: Batch[] = []

  /** @param mostIdle how many unused batches it retains */
  constructor(capacity: number, mostIdle: number) {
    this.#capacity = capacity
    this.#mostIdle = mostIdle
  }

  take(): Batch {
    return this.#idle.pop() ?? new Batch(this.#capacity)
  }

  give(batch: Batch): void {
    if (this.#idle.length >= this.#mostIdle) return
    batch.clear()
    this.#idle.push(batch)
  }
}
