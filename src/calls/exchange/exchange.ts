import { copyBytes } from '../../base/bytes.js'

/**
 * The processes of a communicator during one collective: the only way in which a collective's algorithm communicates
 * with other processes. Peers are process indices in `CommContext.processes`.
 *
 * **Flow control.** The memory that a message occupies at its receiver, before the receiver's algorithm takes it, is
 * bounded. A message of at most `eagerLimitBytes` is sent at once if there is credit for it, the same credit that sends
 * between ranks use. A larger one is also sent at once if the fabric has space for it and an answer takes long
 * (`Fabric.ahead`). Any other is offered: its payload stays here until the receiver takes it, and the collective
 * completes here only then. MPI lets any collective synchronize (MPI-4.1 §6.1), so a correct program cannot observe the
 * difference.
 */
export interface Exchange {
  /** The index of this process. */
  readonly me: number
  readonly count: number
  /** The number of this collective in its lane, the same on all processes. */
  readonly seq: number
  readonly isWatched?: boolean
  /** The notes of online tuning about a call that it follows. */
  readonly watched?: unknown
  /** The largest message that is neither offered nor borrowed, in bytes. */
  readonly eagerLimitBytes: number
  /**
   * Sends bytes of any length to a process, which receives them with the same `step` (0 to 2^31 - 1). Messages of one
   * (sender, step) are received in the order in which they were sent.
   *
   * A payload of at most `eagerLimitBytes` has been read when this returns. A larger one is borrowed until the
   * collective completes here, or until {@link whenSent} calls back: it must not change. Nothing is sent once the
   * collective has failed.
   *
   * @param sent called when the message has left or its receiver has taken it: within this call, or later; not once the
   *   collective has failed
   */
  send(peer: number, step: number, payload: Uint8Array, sent?: () => void): void
  /** Returns the next bytes of (peer, step): a fresh copy at offset 0 of its own 8-byte aligned buffer. */
  receive(peer: number, step: number): Promise<Uint8Array>
  /**
   * Hands `take` the next bytes of (peer, step): at once if they have arrived, otherwise while their frame is being
   * delivered. It serves collectives that a promise per frame would slow down. If `take` throws, the collective fails.
   */
  take(peer: number, step: number, take: Take): void
  /**
   * Writes the next bytes of (peer, step) to the memory that `room` returns, and then calls `landed`; large ones
   * without a copy in between. Once the collective has failed, nothing more is written.
   *
   * @param lend gets the bytes instead if they are in memory that this process can read: they need not be copied
   */
  takeInto(peer: number, step: number, room: Room, landed: () => void, lend?: Lend): void
  /**
   * Waits for data that other processes write in memory, without a frame: calls `look` now and with every poll until it
   * returns true, then `done`. If one of them throws, the collective fails. Neither is called once it has failed.
   * Allows one wait at a time, and only if the fabric watches memory.
   *
   * @param awaited process indices that it waits for
   */
  watch(look: () => boolean, awaited: () => readonly number[], done: () => void): void
  /** Whether the collective has failed; then nothing may be written to the ranks' memory. */
  readonly hasFailed: boolean
  readonly isSent: boolean
  /** Calls back when every payload has been returned: now, or when the last receiver has taken its message. */
  whenSent(done: () => void): void
  /**
   * Completes a collective whose `run` returned nothing.
   *
   * @param results what each hosted rank gets, by local index
   */
  finish(results: readonly unknown[]): void
}

/** @param owned true: the callee may keep the bytes, as from {@link Exchange.receive}; false: valid until it returns */
export type Take = (bytes: Uint8Array, owned: boolean) => void

/** Receives bytes that may be read until `release` is called, which the callee does once. */
export type Lend = (bytes: Uint8Array, release: () => void) => void

/** A receive of an algorithm whose message has yet to arrive. */
export interface AwaitedReceive {
  take: Take
  room: Room | undefined
  reject: ((error: Error) => void) | undefined
  lend: Lend | undefined
  /** The next receive of the same (sender, step). */
  next: AwaitedReceive | undefined
}

/** Returns the memory for a message of this length, exactly as many bytes; null if the message is not wanted. */
export type Room = (sizeBytes: number) => Uint8Array | null

/** Returns a copy that is never a view of pooled memory, so that a typed array of any element type can view it. */
export function copyOf(bytes: Uint8Array): Uint8Array {
  const copy = new Uint8Array(bytes.byteLength)
  copy.set(bytes)
  return copy
}

export const noBytes = new Uint8Array(0)

/** Hands a receive its bytes: unchanged, or written to the memory that it chooses. */
export function hand(take: Take, room: Room | undefined, bytes: Uint8Array, owned: boolean): void {
  if (room === undefined) {
    take(bytes, owned)
    return
  }
  const into = room(bytes.length)
  if (into !== null) copyBytes(into, 0, bytes)
  take(into ?? noBytes, true)
}

/** Forwards every call to another exchange. A subclass observes what it overrides. */
export class ForwardedExchange implements Exchange {
  readonly me: number
  readonly count: number
  readonly seq: number
  readonly eagerLimitBytes: number
  readonly #exchange: Exchange

  constructor(exchange: Exchange) {
    this.me = exchange.me
    this.count = exchange.count
    this.seq = exchange.seq
    this.eagerLimitBytes = exchange.eagerLimitBytes
    this.#exchange = exchange
  }

  send(peer: number, step: number, payload: Uint8Array, sent?: () => void): void {
    this.#exchange.send(peer, step, payload, sent)
  }

  receive(peer: number, step: number): Promise<Uint8Array> {
    return this.#exchange.receive(peer, step)
  }

  take(peer: number, step: number, take: Take): void {
    this.#exchange.take(peer, step, take)
  }

  takeInto(peer: number, step: number, room: Room, landed: () => void, lend?: Lend): void {
    this.#exchange.takeInto(peer, step, room, landed, lend)
  }

  watch(look: () => boolean, awaited: () => readonly number[], done: () => void): void {
    this.#exchange.watch(look, awaited, done)
  }

  get hasFailed(): boolean {
    return this.#exchange.hasFailed
  }

  get isSent(): boolean {
    return this.#exchange.isSent
  }

  whenSent(done: () => void): void {
    this.#exchange.whenSent(done)
  }

  finish(results: readonly unknown[]): void {
    this.#exchange.finish(results)
  }
}
