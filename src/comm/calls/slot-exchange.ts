import { frameKind, headerWord } from '../process/frames.js'
import type { CommContext } from '../table/comm-context.js'
import { copyOf, type Exchange, type Take } from './exchange.js'
import { encodeSignature, type Signature, signatureWords } from './signature.js'

/** Notified when the collective of an exchange completes or fails. */
export interface ExchangeOwner {
  finished(exchange: SlotExchange, results: readonly unknown[]): void
  failed(exchange: SlotExchange, error: unknown): void
}

/** Words of a collective frame's header after those of every communicator frame. */
export const collectiveWord = {
  lane: 3,
  seq: 4,
  step: 5,
  signature: 6,
  /** Bytes of the whole message, and offset of this frame's piece in it; low 32 bits. */
  total: 6 + signatureWords,
  offset: 7 + signatureWords,
  /** Bits 32 to 47 of both: the total's in the upper half, the offset's in the lower. */
  high: 8 + signatureWords,
} as const

const headerWords = 9 + signatureWords
const stepSpan = 2 ** 31

interface Waiting {
  readonly take: Take
  readonly reject?: (error: Error) => void
}

interface Partial {
  readonly bytes: Uint8Array
  filledBytes: number
}

/**
 * The exchange of one collective: sends with its header, and retains what arrives until the algorithm receives it.
 * When the collective is complete, a later one of the same lane reuses it.
 */
export class SlotExchange implements Exchange {
  readonly me: number
  readonly count: number
  readonly #state: CommContext
  readonly #owner: ExchangeOwner
  readonly #header = new Int32Array(headerWords)
  readonly #arrived = new Map<number, Uint8Array[]>()
  readonly #waiting = new Map<number, Waiting[]>()
  readonly #partial = new Map<number, Partial>()
  #signed: Signature | undefined
  #failed: Error | undefined

  constructor(state: CommContext, owner: ExchangeOwner, lane: number) {
    this.#state = state
    this.#owner = owner
    this.me = state.processIndex
    this.count = state.processes.count
    this.#header[headerWord.kind] = frameKind.collective
    this.#header[headerWord.leader] = state.id.leader
    this.#header[headerWord.counter] = state.id.counter
    this.#header[collectiveWord.lane] = lane
  }

  /** Begins the collective with this sequence number. */
  begin(seq: number): void {
    this.#header[collectiveWord.seq] = seq
  }

  get seq(): number {
    return this.#header[collectiveWord.seq]! >>> 0
  }

  get lane(): number {
    return this.#header[collectiveWord.lane]!
  }

  /** Whether no receive is pending and no message is left. */
  get idle(): boolean {
    return this.#waiting.size === 0 && this.#arrived.size === 0 && this.#partial.size === 0
  }

  /** The header of this collective's frames; its signature words are valid after {@link sign}. */
  get header(): Int32Array {
    return this.#header
  }

  sign(signature: Signature): void {
    if (signature === this.#signed) return
    this.#signed = signature
    encodeSignature(signature, this.#header, collectiveWord.signature)
  }

  send(peer: number, step: number, payload: Uint8Array): void {
    if (peer === this.me) {
      this.#deliver(peer * stepSpan + step, copyOf(payload), true)
      return
    }
    const { runtime, processes } = this.#state
    const { maxPayloadBytes } = runtime.fabric
    const process = processes.processes.at(peer)
    const total = payload.byteLength
    const header = this.#header
    header[collectiveWord.step] = step
    header[collectiveWord.total] = total
    let offset = 0
    do {
      const end = Math.min(total, offset + maxPayloadBytes)
      header[collectiveWord.offset] = offset
      header[collectiveWord.high] = (high(total) << 16) | high(offset)
      runtime.send(process, header, offset === 0 && end === total ? payload : payload.subarray(offset, end))
      offset = end
    } while (offset < total)
  }

  receive(peer: number, step: number): Promise<Uint8Array> {
    if (this.#failed !== undefined) return Promise.reject(this.#failed)
    const key = peer * stepSpan + step
    const bytes = takeFirst(this.#arrived, key)
    if (bytes !== undefined) return Promise.resolve(bytes)
    return new Promise((resolve, reject) => {
      const take: Take = (late, owned) => resolve(owned ? late : copyOf(late))
      append(this.#waiting, key, { take, reject })
    })
  }

  take(peer: number, step: number, take: Take): void {
    if (this.#failed !== undefined) return
    const key = peer * stepSpan + step
    const bytes = takeFirst(this.#arrived, key)
    if (bytes === undefined) append(this.#waiting, key, { take })
    else take(bytes, true)
  }

  finish(results: readonly unknown[]): void {
    this.#owner.finished(this, results)
  }

  /** Takes in a frame of this collective: a message, or a piece of one. Pieces of a message arrive in order. */
  frame(peer: number, header: Int32Array, payload: Uint8Array): void {
    const key = peer * stepSpan + header[collectiveWord.step]!
    const highBits = header[collectiveWord.high]!
    const total = (header[collectiveWord.total]! >>> 0) + (highBits >>> 16) * 2 ** 32
    if (payload.byteLength === total) {
      this.#deliver(key, payload, false)
      return
    }
    let partial = this.#partial.get(key)
    if (partial === undefined) {
      partial = { bytes: new Uint8Array(total), filledBytes: 0 }
      this.#partial.set(key, partial)
    }
    const offset = (header[collectiveWord.offset]! >>> 0) + (highBits & 0xffff) * 2 ** 32
    partial.bytes.set(payload, offset)
    partial.filledBytes += payload.byteLength
    if (partial.filledBytes < total) return
    this.#partial.delete(key)
    this.#deliver(key, partial.bytes, true)
  }

  /** Fails all pending and later receives with `error`. */
  fail(error: Error): void {
    this.#failed ??= error
    for (const queue of this.#waiting.values()) for (const { reject } of queue) reject?.(error)
    this.#waiting.clear()
    this.#arrived.clear()
    this.#partial.clear()
  }

  /** Process indices that receives wait for. */
  awaited(): number[] {
    const peers = [...this.#waiting.keys()].map((key) => Math.floor(key / stepSpan))
    return [...new Set(peers)].sort((a, b) => a - b)
  }

  #deliver(key: number, bytes: Uint8Array, owned: boolean): void {
    this.#state.runtime.processCounters.bytesCopied += bytes.byteLength
    const waiting = takeFirst(this.#waiting, key)
    if (waiting === undefined) {
      append(this.#arrived, key, owned ? bytes : copyOf(bytes))
      return
    }
    try {
      waiting.take(bytes, owned)
    } catch (error) {
      this.#owner.failed(this, error)
    }
  }
}

function high(size: number): number {
  return Math.floor(size / 2 ** 32)
}

function append<T>(queues: Map<number, T[]>, key: number, item: T): void {
  const queue = queues.get(key)
  if (queue === undefined) queues.set(key, [item])
  else queue.push(item)
}

function takeFirst<T>(queues: Map<number, T[]>, key: number): T | undefined {
  const queue = queues.get(key)
  if (queue === undefined) return undefined
  const item = queue.shift()
  if (queue.length === 0) queues.delete(key)
  return item
}
