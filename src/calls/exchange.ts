import { copyBytes } from '../base/bytes.js'

/**
 * The processes of a communicator during one collective: the only way in which a collective's algorithm
 * communicates with other processes. Peers are process indices in `CommContext.processes`.
 *
 * **Flow control.** What a message occupies at its receiver before the receiver's algorithm takes it is
 * bounded: a message of at most `eagerLimitBytes` is sent at once as long as there is credit for it, the same
 * credit that sends between ranks use; a larger one, too, where the fabric has space for it and an answer
 * takes long (`Fabric.ahead`). Any other is offered: its payload stays here until the receiver takes it, and
 * the collective completes here only then. MPI lets any collective synchronize (MPI-4.1 §6.1), so a correct
 * program cannot tell.
 */
export interface Exchange {
  /** My process index. */
  readonly me: number
  /** Processes of the communicator. */
  readonly count: number
  /** Which collective of its lane this is: the same number on all processes. */
  readonly seq: number
  /** Whether online tuning follows the call. */
  readonly isWatched?: boolean
  /** What it notes of a call that it follows. */
  readonly watched?: unknown
  /** Larger messages may be offered, and borrowed. */
  readonly eagerLimitBytes: number
  /**
   * Sends bytes of any length to a process, which receives them with the same `step` (0 to 2^31 - 1).
   * Messages of one (sender, step) are received in the order in which they were sent.
   *
   * A payload of at most `eagerLimitBytes` has been read when this returns. A larger one is borrowed until
   * the collective completes here, or until {@link whenSent} calls back: it must not change. Nothing is sent
   * once the collective has failed.
   *
   * @param sent called when the message has left or its receiver has taken it: within this call, or later; not
   *   once the collective has failed
   */
  send(peer: number, step: number, payload: Uint8Array, sent?: () => void): void
  /** The next bytes of (peer, step): a fresh copy at offset 0 of its own 8-byte aligned buffer. */
  receive(peer: number, step: number): Promise<Uint8Array>
  /**
   * Hands `take` the next bytes of (peer, step): now if they have arrived, else while their frame is being
   * delivered. For collectives that a promise per frame would slow down. If `take` throws, the collective
   * fails.
   */
  take(peer: number, step: number, take: Take): void
  /**
   * Writes the next bytes of (peer, step) to where `room` wants them, and then calls `landed`; large ones
   * without a copy in between. Once the collective has failed, nothing more is written.
   *
   * @param lend gets the bytes instead, where they are in memory that this process can read: they need not be
   *   copied
   */
  takeInto(peer: number, step: number, room: Room, landed: () => void, lend?: Lend): void
  /**
   * Waits for what other processes write in memory, without a frame: calls `look` now and with every poll
   * until it returns true, then `done`. If one of them throws, the collective fails. Neither is called once
   * it has failed. One wait at a time, and only where the fabric watches memory.
   *
   * @param awaited process indices that it waits for
   */
  watch(look: () => boolean, awaited: () => readonly number[], done: () => void): void
  /** Whether the collective has failed: nothing may be written to what ranks passed. */
  readonly hasFailed: boolean
  /** Whether every payload has been returned. */
  readonly isSent: boolean
  /**
   * Calls back when every payload has been returned: now, or when the last receiver has taken its message.
   */
  whenSent(done: () => void): void
  /** Completes a collective whose `run` returned nothing: what each hosted rank gets, by local index. */
  finish(results: readonly unknown[]): void
}

/**
 * @param owned true: the callee may keep the bytes, as from {@link Exchange.receive}; false: valid until it
 *   returns
 */
export type Take = (bytes: Uint8Array, owned: boolean) => void

/** Bytes that may be read until `release` is called, which the callee does once. */
export type Lend = (bytes: Uint8Array, release: () => void) => void

/** A receive of an algorithm whose message is to come. */
export interface AwaitedReceive {
  take: Take
  room: Room | undefined
  reject: ((error: Error) => void) | undefined
  lend: Lend | undefined
  /** The next receive of the same (sender, step). */
  next: AwaitedReceive | undefined
}

/** Where a message of this length is to be written: exactly as many bytes; null where it is not wanted. */
export type Room = (sizeBytes: number) => Uint8Array | null

/** A copy that is never a view of pooled memory, so that a typed array of any element type can view it. */
export function copyOf(bytes: Uint8Array): Uint8Array {
  const copy = new Uint8Array(bytes.byteLength)
  copy.set(bytes)
  return copy
}

export const noBytes = new Uint8Array(0)

/** Gives a receive its bytes: as they are, or where it wants them. */
export function hand(take: Take, room: Room | undefined, bytes: Uint8Array, owned: boolean): void {
  if (room === undefined) {
    take(bytes, owned)
    return
  }
  const into = room(bytes.length)
  if (into !== null) copyBytes(into, 0, bytes)
  take(into ?? noBytes, true)
}
