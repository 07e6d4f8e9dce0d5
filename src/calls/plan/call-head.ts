import { bytesOf } from '../../base/bytes.js'
import { packBlocks, unpackBlocks } from '../../base/packing.js'
import { algorithms } from '../../collective/algorithms.js'
import type { Chosen } from './planned-move.js'

/** What only the root's ranks know of a call: the others get it before the data. */
export interface CallHead extends Chosen {
  /** Wire code of the elements. */
  readonly type: number
  /** Bytes of every unit of data. */
  readonly sizes: Float64Array
}

export function encodeHead({ type, algorithm, segments, sizes }: CallHead): Uint8Array {
  const words = Float64Array.of(type, algorithms.indexOf(algorithm), segments)
  return packBlocks([bytesOf(words), bytesOf(sizes)])
}

/** @param bytes start at a multiple of 8 in their buffer */
export function decodeHead(bytes: Uint8Array): CallHead {
  const [words, sizes] = unpackBlocks(bytes).map(
    (block) => new Float64Array(block.buffer, block.byteOffset, block.byteLength / 8),
  )
  const [type, algorithm, segments] = words
  return { type: type, algorithm: algorithms[algorithm], segments: segments, sizes: sizes }
}
