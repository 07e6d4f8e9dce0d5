import { copyBytes } from '../base/bytes.js'
import { RankweaveError, wrongValue } from '../errors.js'
import { detachedError } from '../messages/datatype/elements.js'
import { collectiveWord, offsetOf, totalOf } from '../messages/process/frames.js'
import type { Room } from './exchange.js'
import { OfferedMessage } from './offered-message.js'

/** A message of several frames that is not complete. */
export class PartialMessage {
  readonly totalBytes: number
  #place: Uint8Array | undefined
  #own: Uint8Array | undefined
  #filledBytes = 0

  constructor(totalBytes: number) {
    this.totalBytes = totalBytes
  }

  /** Writes the frames into the memory of a receive. Called before the first frame. */
  landIn(place: Uint8Array | null | undefined): void {
    this.#place = place ?? undefined
  }

  get isInPlace(): boolean {
    return this.#place !== undefined
  }

  get bytes(): Uint8Array {
    this.#own ??= new Uint8Array(this.totalBytes)
    return this.#own
  }

  /**
   * Adds the next frame; returns true when no other is missing.
   *
   * @throws ERR_FABRIC if the message goes to a buffer that was detached meanwhile
   * @throws ERR_PROTOCOL for a frame that does not continue the message
   */
  add(header: Int32Array, payload: Uint8Array): boolean {
    const at = offsetOf(header)
    if (at !== this.#filledBytes || totalOf(header) !== this.totalBytes) {
      const expected = `byte ${this.#filledBytes} of ${this.totalBytes}, got ${at} of ${totalOf(header)}`
      throw new RankweaveError(
        'ERR_PROTOCOL',
        `a message of a collective: expected its frame from ${expected}`,
      )
    }
    const into = this.#place ?? this.bytes
    if (into.byteLength !== this.totalBytes) throw detachedError()
    copyBytes(into, at, payload)
    this.#filledBytes += payload.byteLength
    return this.#filledBytes === this.totalBytes
  }
}

/**
 * The messages of one collective that are not complete, by key: frames of those sent at once, pieces of those offered.
 */
export class PartialMessages {
  readonly #messages = new Map<number, PartialMessage | OfferedMessage>()

  get isEmpty(): boolean {
    return this.#messages.size === 0
  }

  /**
   * Adds a frame of a message, which is returned once it is complete.
   *
   * @throws ERR_PROTOCOL for a message that does not begin at its beginning: its sender has taken no credit
   * @param room of the receive that waits for it, if one does: it gets the frames at once in its memory
   */
  frame(
    key: number,
    header: Int32Array,
    payload: Uint8Array,
    room: Room | undefined,
  ): PartialMessage | undefined {
    let message = this.#messages.get(key)
    if (message instanceof OfferedMessage) throw mixed()
    if (message === undefined) {
      const total = totalOf(header)
      const at = offsetOf(header)
      if (at !== 0) {
        const text = `a message of a collective: expected its first frame, got that from byte ${at} on`
        throw new RankweaveError('ERR_PROTOCOL', text)
      }
      message = new PartialMessage(total)
      this.#messages.set(key, message)
      message.landIn(room?.(total))
    }
    if (!message.add(header, payload)) return undefined
    this.#messages.delete(key)
    return message
  }

  /**
   * Adds a piece of an offered message of world process `process`, which is returned once all its pieces are offered.
   *
   * @throws ERR_PROTOCOL for a piece of another message
   */
  offer(
    key: number,
    process: number,
    header: Int32Array,
    location: Uint8Array,
    pieceBytes: number,
  ): OfferedMessage | undefined {
    const begun = this.#messages.get(key)
    if (begun instanceof PartialMessage) throw mixed()
    const total = totalOf(header)
    if (begun !== undefined && begun.sizeBytes !== total) {
      const expected = `an offer in pieces: expected one of ${begun.sizeBytes} bytes`
      throw wrongValue('ERR_PROTOCOL', expected, total)
    }
    const message = begun ?? new OfferedMessage(process, total, pieceBytes)
    if (message.add(header[collectiveWord.offset], location)) {
      this.#messages.delete(key)
      return message
    }
    this.#messages.set(key, message)
    return undefined
  }

  drop(dropped: (key: number, message: PartialMessage | OfferedMessage) => void): void {
    for (const [key, message] of this.#messages) dropped(key, message)
    this.#messages.clear()
  }
}

function mixed(): RankweaveError {
  return new RankweaveError(
    'ERR_PROTOCOL',
    'a message of a collective: expected it offered, or sent, not both',
  )
}
