import type { Exchange } from './exchange.js'

/**
 * How the processes of a collective spread bytes among themselves. Each takes the first step number it may use;
 * patterns of one collective need distinct steps, or the same order on all processes.
 */

const nothing = new Uint8Array(0)

/** Nobody leaves before everyone has come: dissemination, one round per doubling, 32 steps at most. */
export async function barrierOf(exchange: Exchange, step = 0): Promise<void> {
  const { me, count } = exchange
  for (let distance = 1, round = 0; distance < count; distance *= 2, round++) {
    exchange.send((me + distance) % count, step + round, nothing)
    await exchange.receive((me - distance + count) % count, step + round)
  }
}

/** The root's bytes on every process (binomial tree); the root gets back its own. */
export async function bcastBytes(
  exchange: Exchange,
  root: number,
  bytes: Uint8Array | null,
  step = 0,
): Promise<Uint8Array> {
  const { me, count } = exchange
  const relative = (me - root + count) % count
  // The parent differs in the lowest set bit; children differ in a lower one.
  let bit = 1
  while (bit < count && (relative & bit) === 0) bit *= 2
  const held = relative === 0 ? bytes! : await exchange.receive((me - bit + count) % count, step)
  for (let child = bit / 2; child >= 1; child /= 2) {
    if (relative + child < count) exchange.send((me + child) % count, step, held)
  }
  return held
}

/** Every process's bytes at the root, by process index; null elsewhere. */
export async function gatherBytes(
  exchange: Exchange,
  root: number,
  bytes: Uint8Array,
  step = 0,
): Promise<Uint8Array[] | null> {
  const { me, count } = exchange
  if (me !== root) {
    exchange.send(root, step, bytes)
    return null
  }
  const blocks: Uint8Array[] = []
  for (let peer = 0; peer < count; peer++) {
    blocks.push(peer === me ? bytes : await exchange.receive(peer, step))
  }
  return blocks
}

/** Block p of the root's list on process p; the root keeps its own block, uncopied. */
export async function scatterBytes(
  exchange: Exchange,
  root: number,
  blocks: readonly Uint8Array[] | null,
  step = 0,
): Promise<Uint8Array> {
  const { me, count } = exchange
  if (me !== root) return exchange.receive(root, step)
  for (let distance = 1; distance < count; distance++) {
    const peer = (me + distance) % count
    exchange.send(peer, step, blocks![peer]!)
  }
  return blocks![me]!
}

/**
 * Every process's bytes on every process, by process index: Bruck's algorithm, one round per doubling of what is
 * held, so the messages per process are logarithmic for any number of processes. My own block is not copied.
 */
export async function allgatherBytes(exchange: Exchange, bytes: Uint8Array, step = 0): Promise<Uint8Array[]> {
  const { me, count } = exchange
  // held[i] is the block of process me + i.
  const held: Uint8Array[] = [bytes]
  for (let round = 0; held.length < count; round++) {
    const distance = held.length
    const wanted = Math.min(distance, count - distance)
    exchange.send((me - distance + count) % count, step + round, packBlocks(held.slice(0, wanted)))
    held.push(...unpackBlocks(await exchange.receive((me + distance) % count, step + round)))
  }
  return held.map((_, process) => held[(process - me + count) % count]!)
}

/** Block p of my list to process p, which finds it at my index. My own block is not copied. */
export async function alltoallBytes(
  exchange: Exchange,
  blocks: readonly Uint8Array[],
  step = 0,
): Promise<Uint8Array[]> {
  const { me, count } = exchange
  for (let distance = 1; distance < count; distance++) {
    const peer = (me + distance) % count
    exchange.send(peer, step, blocks[peer]!)
  }
  const received: Uint8Array[] = []
  for (let peer = 0; peer < count; peer++) {
    received.push(peer === me ? blocks[me]! : await exchange.receive(peer, step))
  }
  return received
}

/** A list of byte blocks as one: count, lengths, then the blocks, each at a multiple of 8 bytes. */
export function packBlocks(blocks: readonly Uint8Array[]): Uint8Array {
  let size = 8 * (1 + blocks.length)
  for (const block of blocks) size += padded(block.byteLength)
  const packed = new Uint8Array(size)
  const lengths = new Float64Array(packed.buffer, 0, 1 + blocks.length)
  lengths[0] = blocks.length
  let at = lengths.byteLength
  blocks.forEach((block, i) => {
    lengths[1 + i] = block.byteLength
    packed.set(block, at)
    at += padded(block.byteLength)
  })
  return packed
}

/** The blocks of {@link packBlocks}, as views of `packed`, which starts at a multiple of 8 bytes in its buffer. */
export function unpackBlocks(packed: Uint8Array): Uint8Array[] {
  const count = new Float64Array(packed.buffer, packed.byteOffset, 1)[0]!
  const lengths = new Float64Array(packed.buffer, packed.byteOffset + 8, count)
  const blocks: Uint8Array[] = []
  let at = 8 * (1 + count)
  for (let i = 0; i < count; i++) {
    blocks.push(packed.subarray(at, at + lengths[i]!))
    at += padded(lengths[i]!)
  }
  return blocks
}

function padded(sizeBytes: number): number {
  return Math.ceil(sizeBytes / 8) * 8
}
