import { Queue } from '../fabric/queue.js'

/** A frame to oneself: the fabric's own copy. */
export interface OwnFrame {
  readonly kind: number
  readonly header: Int32Array
  readonly payload: Uint8Array
}

/** The number of pieces of bulk transfers that may wait at a time. */
const mostPieces = 4
const nothing = new Uint8Array(0)

/** The frames that a process sends to itself, until its next turn. */
export class OwnFrames {
  readonly #frames = new Queue<OwnFrame>()
  #pieces = 0

  get size(): number {
    return this.#frames.size
  }

  push(kind: number, header: Int32Array, payload: Uint8Array | undefined): void {
    const own = payload === undefined ? nothing : new Uint8Array(payload)
    this.#frames.push({ kind, header: header.slice(), payload: own })
  }

  /** Queues a piece; false while too many pieces wait. */
  pushPiece(kind: number, header: Int32Array, payload: Uint8Array, from: number, to: number): boolean {
    if (this.#pieces >= mostPieces) return false
    this.#pieces++
    // An empty buffer may be detached, unnoticed.
    this.push(kind, header, from === to ? undefined : payload.subarray(from, to))
    return true
  }

  /** Delivers frames that were sent before, not those sent in answer; true if there was one. */
  deliver(take: (frame: OwnFrame) => void): boolean {
    let left = this.#frames.size
    if (left === 0) return false
    this.#pieces = 0
    // Handling a frame may clear the rest.
    for (; left > 0 && this.#frames.size > 0; left--) take(this.#frames.take()!)
    return true
  }

  clear(): void {
    this.#frames.clear()
  }
}
