import { copyBytes } from '../../base/bytes.js'
import { packBlocks, unpackBlocks } from '../../base/packing.js'

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

/**
 * These are communication patterns between the processes of a collective. Each takes the first step number it may use.
 * Patterns of one collective need distinct steps, or the same order on all processes.
 */

export function allSent(exchange: Exchange): Promise<void> {
  return new Promise((resolve) => exchange.whenSent(resolve))
}

/** Returns the root's bytes on every process (binomial tree); the root gets its own back. */
export function bcastBytes(
  exchange: Exchange,
  root: number,
  bytes: Uint8Array | null,
  step = 0,
): Promise<Uint8Array> {
  const { me, count } = exchange
  if (me === root) {
    sendToChildren(exchange, root, bytes!, step)
    return Promise.resolve(bytes!)
  }
  const { parent } = treePosition(me, root, count)
  return exchange.receive(parent, step).then((held) => {
    sendToChildren(exchange, root, held, step)
    return held
  })
}

/**
 * Returns a process's place in the binomial tree. Its parent differs in the lowest set bit of the distance from the
 * root; its children differ in a lower one.
 */
function treePosition(
  me: number,
  root: number,
  count: number,
): { relative: number; bit: number; parent: number } {
  const relative = (me - root + count) % count
  let bit = 1
  while (bit < count && (relative & bit) === 0) bit *= 2
  return { relative, bit, parent: (me - bit + count) % count }
}

/** Sends bytes to the processes below this one in the binomial tree from `root`. */
export function sendToChildren(exchange: Exchange, root: number, held: Uint8Array, step: number): void {
  const { me, count } = exchange
  const { relative, bit } = treePosition(me, root, count)
  for (let child = bit / 2; child >= 1; child /= 2) {
    if (relative + child < count) exchange.send((me + child) % count, step, held)
  }
}

/** Returns the process above this one, which is not the root, in the same tree. */
export function parentIn({ me, count }: Exchange, root: number): number {
  return treePosition(me, root, count).parent
}

/** Returns every process's bytes at the root, by process index; null elsewhere. */
export async function gatherBytes(
  exchange: Exchange,
  root: number,
  bytes: Uint8Array,
  step = 0,
): Promise<Uint8Array[] | null> {
  if (exchange.me !== root) {
    exchange.send(root, step, bytes)
    return null
  }
  return receiveAll(exchange, bytes, step)
}

/**
 * Receives one message of every other process, by process index, with `mine` at this process's index. Large messages
 * are fetched at the same time.
 */
function receiveAll(exchange: Exchange, mine: Uint8Array, step: number): Promise<Uint8Array[]> {
  const { me, count } = exchange
  return Promise.all(
    Array.from({ length: count }, (_, peer) => (peer === me ? mine : exchange.receive(peer, step))),
  )
}

/**
 * Returns every process's bytes on every process, by process index. Bruck's algorithm sends ceil(lg count) messages per
 * process for any number of processes. The own block is not copied.
 */
export async function allgatherBytes(exchange: Exchange, bytes: Uint8Array, step = 0): Promise<Uint8Array[]> {
  const { me, count } = exchange
  // held[i] is the block of process me + i.
  const held: Uint8Array[] = [bytes]
  for (let round = 0; held.length < count; round++) {
    const distance = held.length
    const wanted = Math.min(distance, count - distance)
    exchange.send((me - distance + count) % count, step + round, packBlocks(held.slice(0, wanted)))
    const bytes = await exchange.receive((me + distance) % count, step + round)
    for (const block of unpackBlocks(bytes)) held.push(block)
  }
  return held.map((_, process) => held[(process - me + count) % count])
}

/**
 * Runs {@link allgatherBytes} if all processes know the length of every block: the same rounds in one buffer, without a
 * promise.
 *
 * @param blocks the own block, then space for those of processes me + 1, me + 2, ... modulo `count`
 * @param start offset of each in `blocks`, then the end: `count + 1` offsets
 */
export function allgatherInto(
  exchange: Exchange,
  blocks: Uint8Array,
  start: ArrayLike<number>,
  done: () => void,
  step = 0,
  held = 1,
): void {
  const { me, count } = exchange
  if (held === count) {
    done()
    return
  }
  const wanted = Math.min(held, count - held)
  exchange.send((me - held + count) % count, step, blocks.subarray(0, start[wanted]))
  exchange.take((me + held) % count, step, (bytes) => {
    blocks.set(bytes, start[held])
    allgatherInto(exchange, blocks, start, done, step + 1, held + wanted)
  })
}

/** Sends block p of the list to process p, which receives it at the sender's index. The own block is not copied. */
export async function alltoallBytes(
  exchange: Exchange,
  blocks: readonly Uint8Array[],
  step = 0,
): Promise<Uint8Array[]> {
  const { me, count } = exchange
  for (let distance = 1; distance < count; distance++) {
    const peer = (me + distance) % count
    exchange.send(peer, step, blocks[peer])
  }
  return receiveAll(exchange, blocks[me], step)
}
