import { bytesOf, roundUp, wordsOf } from './bytes.js'

// These functions pack lists of blocks as one block of bytes, and unpack them.

/** Joins blocks without their lengths. */
export function concatenate(blocks: readonly Uint8Array[]): Uint8Array {
  let sizeBytes = 0
  for (const block of blocks) sizeBytes += block.byteLength
  const flat = new Uint8Array(sizeBytes)
  let at = 0
  for (const block of blocks) {
    flat.set(block, at)
    at += block.byteLength
  }
  return flat
}

export function concatenateWords(lists: readonly ArrayLike<number>[]): Int32Array<ArrayBuffer> {
  let length = 0
  for (const list of lists) length += list.length
  const flat = new Int32Array(length)
  let at = 0
  for (const list of lists) {
    flat.set(list, at)
    at += list.length
  }
  return flat
}

/** Packs the count, the lengths, then the blocks, each at a multiple of 8 bytes. */
export function packBlocks(blocks: readonly Uint8Array[]): Uint8Array {
  let size = 8 * (1 + blocks.length)
  for (const block of blocks) size += roundUp(block.byteLength, 8)
  const packed = new Uint8Array(size)
  const lengths = new Float64Array(packed.buffer, 0, 1 + blocks.length)
  lengths[0] = blocks.length
  let at = lengths.byteLength
  blocks.forEach((block, i) => {
    lengths[1 + i] = block.byteLength
    packed.set(block, at)
    at += roundUp(block.byteLength, 8)
  })
  return packed
}

/**
 * Returns the blocks of {@link packBlocks} as views of `packed`, which starts at a multiple of 8 bytes in its buffer.
 */
export function unpackBlocks(packed: Uint8Array): Uint8Array[] {
  const count = new Float64Array(packed.buffer, packed.byteOffset, 1)[0]
  const lengths = new Float64Array(packed.buffer, packed.byteOffset + 8, count)
  const blocks: Uint8Array[] = []
  let at = 8 * (1 + count)
  for (let i = 0; i < count; i++) {
    blocks.push(packed.subarray(at, at + lengths[i]))
    at += roundUp(lengths[i], 8)
  }
  return blocks
}

/** Packs lists of 32-bit words with half the space for their lengths: count, lengths, then the words. */
export function packWords(lists: readonly Int32Array[]): Uint8Array {
  const lengths = lists.map(({ length }) => length)
  return bytesOf(concatenateWords([[lists.length, ...lengths], ...lists]))
}

/** Returns the lists of {@link packWords} as views of `bytes`, which start at a multiple of 4 bytes in their buffer. */
export function unpackWords(bytes: Uint8Array): Int32Array[] {
  const packed = wordsOf(bytes)
  const lists: Int32Array[] = []
  let at = 1 + packed[0]
  for (let i = 0; i < packed[0]; i++) {
    lists.push(packed.subarray(at, at + packed[1 + i]))
    at += packed[1 + i]
  }
  return lists
}
