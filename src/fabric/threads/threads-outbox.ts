import { Queue } from '../queue.js'
import { processState, ringOf, stateStride, type ThreadsConnection } from './threads-connect.js'
import { RingWriter } from './threads-ring.js'

/** A record that found its ring full: the fabric's own copy. */
export interface Queued {
  readonly kind: number
  readonly header: Int32Array
  readonly payload: Uint8Array
}

/** Copies a record for the fabric. */
export function queued(kind: number, header: Int32Array, payload: Uint8Array | undefined): Queued {
  return { kind, header: header.slice(), payload: payload === undefined ? none : copyOf(payload) }
}

/**
 * Sends the records of one process to the others: records in rings, those that found a ring full, and wake messages to
 * sleeping peers.
 */
export class ThreadsOutbox {
  /** Whether a record was sent since the owner last reset this. */
  active = false
  /** The number of records written to rings. */
  sent = 0
  readonly #connection: ThreadsConnection
  readonly #states: Int32Array
  /** The writers by peer; none for this process itself. */
  readonly #writers: readonly (RingWriter | undefined)[]
  readonly #overflow: readonly Queue<Queued>[]
  /** The number of records in all overflow queues. */
  #overflowing = 0
  readonly #gone: boolean[]

  constructor(connection: ThreadsConnection, states: Int32Array) {
    const { process, nodes } = connection
    this.#connection = connection
    this.#states = states
    this.#writers = nodes.map((_, peer) =>
      peer === process ? undefined : new RingWriter(ringOf(connection, process, peer)),
    )
    this.#overflow = nodes.map(() => new Queue())
    this.#gone = nodes.map(() => false)
  }

  /** The number of records that wait for space. */
  get waiting(): number {
    return this.#overflowing
  }

  waitsFor(peer: number): boolean {
    return this.#overflow[peer].size > 0
  }

  /** Returns the bytes of payload that fit in the ring to another process now, in frames. */
  roomFor(peer: number): number {
    if (this.#gone[peer] || this.waitsFor(peer)) return 0
    return this.#writers[peer]!.roomFor(this.#connection.maxPayloadBytes)
  }

  /** Sends a record and returns true, or retains a copy of it until there is space. */
  post(peer: number, kind: number, header: Int32Array, payload: Uint8Array | undefined): boolean {
    if (this.write(peer, kind, header, payload, 0, payload === undefined ? 0 : payload.length)) return true
    if (this.#gone[peer]) return true
    this.#overflow[peer].push(queued(kind, header, payload))
    this.#overflowing++
    return false
  }

  /** Sends a record whose payload is part of `payload`; false when there is no space now. */
  write(
    peer: number,
    kind: number,
    header: Int32Array,
    payload: Uint8Array | undefined,
    from: number,
    to: number,
  ): boolean {
    if (this.#gone[peer] || (this.#overflowing > 0 && this.waitsFor(peer))) return false
    if (!this.#writers[peer]!.write(kind, header, payload, from, to)) return false
    this.active = true
    this.sent++
    this.wake(peer)
    return true
  }

  /** Wakes `peer` if it is asleep or blocked. */
  wake(peer: number): void {
    const at = peer * stateStride
    const state = Atomics.load(this.#states, at)
    if (state === processState.awake || state === processState.closed) return
    if (Atomics.compareExchange(this.#states, at, state, processState.awake) !== state) {
      // The peer has just changed between blocked and asleep, or another process wakes it.
      this.wake(peer)
    } else if (state === processState.blocked) Atomics.notify(this.#states, at, 1)
    else this.#connection.ports[peer]!.postMessage(0)
  }

  /** Sends what has waited, as far as there is space. */
  flush(peer: number): void {
    const queue = this.#overflow[peer]
    const writer = this.#writers[peer]
    for (let next = queue.peek(); next !== undefined; next = queue.peek()) {
      const { kind, header, payload } = next
      if (!writer!.write(kind, header, payload, 0, payload.length)) {
        if (this.#isClosed(peer)) this.drop(peer)
        return
      }
      queue.take()
      this.#overflowing--
      this.active = true
      this.sent++
      this.wake(peer)
    }
  }

  /** Asks `peer` for a wake message when it has released space. */
  requestSpace(peer: number): void {
    this.#writers[peer]?.requestSpace()
  }

  /** Drops the records that wait for `peer`. */
  drop(peer: number): void {
    const queue = this.#overflow[peer]
    this.#overflowing -= queue.size
    queue.clear()
  }

  /** Sends no more records to `peer`. */
  lose(peer: number): void {
    this.#gone[peer] = true
    this.drop(peer)
  }

  /** Sends what waits to the peers that still read; resolves when no record waits. */
  async drain(): Promise<void> {
    for (;;) {
      this.#overflow.forEach((_, peer) => {
        this.flush(peer)
        if (this.#isClosed(peer)) this.drop(peer)
      })
      if (this.#overflowing === 0) return
      await new Promise((resolve) => setTimeout(resolve, 1))
    }
  }

  #isClosed(peer: number): boolean {
    return Atomics.load(this.#states, peer * stateStride) === processState.closed
  }
}

const none = new Uint8Array(0)

/** Copies a payload. `slice` would return a view of a Buffer, and may return shared memory for a shared array. */
function copyOf(payload: Uint8Array): Uint8Array {
  return payload.length === 0 ? none : new Uint8Array(payload)
}
