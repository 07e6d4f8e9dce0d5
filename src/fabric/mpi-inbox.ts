import { maxHeaderWords } from './fabric.js'
import type { MpiLibrary } from './mpi-library.js'
import { MpiMemory } from './mpi-memory.js'
import { frameBytes, frameTag, maxPayloadBytes, messageHeadBytes, padded, smallBytes } from './mpi-message.js'

/** Where frames go; header and payload are lent until it returns. */
export type Deliver = (src: number, header: Int32Array, payload: Uint8Array) => void

const capacity = padded(messageHeadBytes + frameBytes(maxHeaderWords, maxPayloadBytes))
/** Receives that MPI can match while we are busy with one. */
const receives = 4

const flagAt = 0
const requestsAt = 8

/**
 * Frames from other processes. Persistent receives from anybody are posted into buffers of our own, in turn; MPI matches
 * messages with them in that order, so we look at one at a time: one call when nothing has come, two per message.
 */
export class MpiInbox {
  /** Messages received, modulo 2^32. */
  received = 0
  readonly #library: MpiLibrary
  readonly #test: (...args: number[]) => number
  readonly #start: (...args: number[]) => number
  readonly #memory: MpiMemory
  readonly #words: Int32Array
  readonly #bytes: Uint8Array
  readonly #flag: number
  readonly #ignore: number
  readonly #requests: readonly number[]
  readonly #offsets: readonly number[]
  #turn = 0
  /** A message is being handed on: its next frame and its end. */
  #begun = false
  #at = 0
  #end = 0
  /** Arrays to lend, by length: making views costs more than copying a few words. */
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
      const [buffer, request] = [address + this.#offsets[turn]!, this.#requests[turn]!]
      calls.recvInit(buffer, capacity, abi.byte, abi.anySource, frameTag, comm, request)
      calls.start(request)
    }
  }

  /** Hands on the frames of the next message, if one has come; false if none has. */
  next(deliver: Deliver): boolean {
    if (!this.#begun) {
      this.#test(this.#requests[this.#turn]!, this.#flag, this.#ignore)
      if (this.#words[flagAt >> 2] === 0) return false
      const offset = this.#offsets[this.#turn]!
      this.#at = offset + messageHeadBytes
      this.#end = offset + this.#words[(offset >> 2) + 1]!
      this.#begun = true
    }
    const src = this.#words[this.#offsets[this.#turn]! >> 2]!
    // A sink that throws has had its frame; those that follow wait for the next look.
    while (this.#at < this.#end) this.#frame(src, deliver)
    this.#done()
    return true
  }

  /** Receives without handing on, for when nobody listens any more. */
  discard(): boolean {
    return this.next(() => {})
  }

  /** Takes back the receives that are posted. Nothing may be under way to this process any more. */
  close(): void {
    const { calls } = this.#library
    for (const request of this.#requests) {
      calls.cancel(request)
      calls.wait(request, this.#ignore)
      calls.requestFree(request)
    }
  }

  #frame(src: number, deliver: Deliver): void {
    const words = this.#words
    const first = this.#at >> 2
    const payloadBytes = words[first]!
    const headerWords = words[first + 1]!
    const header = this.#headers[headerWords]!
    for (let i = 0; i < headerWords; i++) header[i] = words[first + 2 + i]!
    const start = this.#at + frameBytes(headerWords, 0)
    this.#at += frameBytes(headerWords, payloadBytes)
    let payload: Uint8Array
    if (payloadBytes <= smallBytes) {
      payload = this.#payloads[payloadBytes]!
      for (let i = 0; i < payloadBytes; i++) payload[i] = this.#bytes[start + i]!
    } else {
      payload = this.#bytes.subarray(start, start + payloadBytes)
    }
    deliver(src, header, payload)
  }

  #done(): void {
    this.received = (this.received + 1) | 0
    this.#start(this.#requests[this.#turn]!)
    this.#turn = (this.#turn + 1) % receives
    this.#begun = false
  }
}
