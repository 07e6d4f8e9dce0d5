import { bytesOf } from '../../../../base/bytes.js'
import { packBlocks, unpackBlocks } from '../../../../base/packing.js'
import { copyOf, type Exchange } from '../../exchange.js'

/** Shorter blocks are copied into one message, which costs less than a message each. */
const longBlockBytes = 16_384

/**
 * Whether blocks of this size are sent one by one, from where they are to where they belong: those that are offered
 * anyway are, too. Processes that both know the size agree.
 */
export function isLong({ eagerLimitBytes }: Exchange, sizeBytes: number): boolean {
  return sizeBytes >= longBlockBytes || sizeBytes > eagerLimitBytes
}

/** The blocks that one process sends another, of lengths that only the sender knows. */
export interface BlockList {
  /** A number that the sender adds, e.g. the wire code of the elements. */
  readonly tag: number
  readonly sizes: readonly number[]
  /** Bytes of the short blocks; undefined for long ones, which follow ({@link takeLongBlocks}). */
  readonly short: readonly (Uint8Array | undefined)[]
}

/** Steps of the two parts of a list: its head, by any pattern of steps below 64, then the long blocks. */
export const listStep = { head: 0, long: 64 } as const

/** Sends a list. Its long blocks are borrowed until the collective completes. */
export function sendBlockList(
  exchange: Exchange,
  peer: number,
  blocks: readonly Uint8Array[],
  tag = 0,
): void {
  exchange.send(peer, listStep.head, headOf(exchange, blocks, tag))
  sendLongBlocks(exchange, peer, blocks)
}

/** The second part of {@link sendBlockList}. */
export function sendLongBlocks(exchange: Exchange, peer: number, blocks: readonly Uint8Array[]): void {
  for (const block of blocks)
    if (isLong(exchange, block.byteLength)) exchange.send(peer, listStep.long, block)
}

export function takeBlockList(exchange: Exchange, peer: number, take: (list: BlockList) => void): void {
  exchange.take(peer, listStep.head, (bytes, owned) => take(listIn(owned ? bytes : copyOf(bytes))))
}

/** The head of a list: tag, index and length of every long block; then the short ones, in place of long ones nothing. */
export function headOf(exchange: Exchange, blocks: readonly Uint8Array[], tag = 0): Uint8Array {
  const head = [tag]
  blocks.forEach((block, index) => {
    if (isLong(exchange, block.byteLength)) head.push(index, block.byteLength)
  })
  const short = blocks.map((block) => (isLong(exchange, block.byteLength) ? nothing : block))
  return packBlocks([bytesOf(Float64Array.from(head)), ...short])
}

/** @param head of {@link headOf}; the short blocks are views of it */
export function listIn(head: Uint8Array): BlockList {
  const [first, ...packed] = unpackBlocks(head)
  const words = new Float64Array(first!.buffer, first!.byteOffset, first!.byteLength / 8)
  const short: (Uint8Array | undefined)[] = packed
  const sizes = packed.map((block) => block.byteLength)
  for (let at = 1; at < words.length; at += 2) {
    sizes[words[at]!] = words[at + 1]!
    short[words[at]!] = undefined
  }
  return { tag: words[0]!, sizes, short }
}

/**
 * Receives the long blocks of a list.
 *
 * @param roomFor where the block with this index goes; null if it is not wanted
 * @param landed called after each
 */
export function takeLongBlocks(
  exchange: Exchange,
  peer: number,
  { short }: BlockList,
  roomFor: (index: number) => Uint8Array | null,
  landed: () => void,
): void {
  short.forEach((block, index) => {
    if (block === undefined) exchange.takeInto(peer, listStep.long, () => roomFor(index), landed)
  })
}

const nothing = new Uint8Array(0)
