import { packBlocks, unpackBlocks } from '../../base/packing.js'
import type { Exchange } from './exchange.js'

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
