import { bytesOf } from '../../base/bytes.js'
import { concatenate } from '../../base/packing.js'
import { RankweaveError, wrongValue } from '../../errors.js'
import { elementSizeBytes, typeCode } from '../../messages/datatype/elements.js'
import { payloadOf } from '../../messages/datatype/payload.js'
import { StridedView } from '../../messages/datatype/strided-view.js'
import { encodeValue } from '../../messages/datatype/value-writer.js'
import { countsOf, packedDispls, packedElements, requireElements } from './deliver.js'

/**
 * The data that one rank sends to all ranks: block r is `sizes[r]` bytes from `starts[r]`. The bytes may be the user's
 * own.
 */
export interface SendBlocks {
  readonly type: number
  readonly bytes: Uint8Array
  readonly starts: Float64Array
  readonly sizes: Float64Array
}

/**
 * Returns equal blocks of a typed array or strided view, or the elements of an ordinary array as values.
 *
 * @throws ERR_COUNT when a typed array does not divide by `size`, or an array does not have one value per rank
 * @throws ERR_TYPE for anything else
 */
export function equalBlocks(what: string, data: unknown, size: number): SendBlocks {
  if (!ArrayBuffer.isView(data) && !(data instanceof StridedView)) return valueBlocks(what, data, size)
  const payload = payloadOf(data)
  requireElements(what, payload.type)
  if (payload.countElems % size !== 0) {
    const expected = `${what}: expected a multiple of ${size} elements, one block per rank`
    throw wrongValue('ERR_COUNT', expected, payload.countElems)
  }
  const blockBytes = payload.sizeBytes / size
  return {
    type: payload.type,
    bytes: bytesOf(packedElements(payload.data)),
    starts: Float64Array.from({ length: size }, (_, rank) => rank * blockBytes),
    sizes: new Float64Array(size).fill(blockBytes),
  }
}

/**
 * Returns blocks of the given lengths.
 *
 * @param side the beginning of the names of the lists: `sendCounts`, `counts`
 * @throws ERR_COUNT when they reach beyond the data
 */
export function countedBlocks(
  what: string,
  side: 'send' | '',
  data: unknown,
  counts: ArrayLike<number>,
  displs: ArrayLike<number> | undefined,
  size: number,
): SendBlocks {
  const payload = payloadOf(data)
  requireElements(what, payload.type)
  const [countsName, displsName] = side === 'send' ? ['sendCounts', 'sendDispls'] : ['counts', 'displs']
  const lengths = countsOf(`${what}: ${countsName}`, counts, size)
  const firsts =
    displs === undefined ? packedDispls(lengths) : countsOf(`${what}: ${displsName}`, displs, size)
  const elemBytes = elementSizeBytes(payload.type)
  for (let rank = 0; rank < size; rank++) {
    const end = firsts[rank] + lengths[rank]
    if (lengths[rank] === 0 || (end <= payload.countElems && firsts[rank] >= 0)) continue
    throw new RankweaveError(
      'ERR_COUNT',
      `${what}: the block of rank ${rank} ends at element ${end}, but the data has ${payload.countElems}`,
      { details: { rank } },
    )
  }
  return {
    type: payload.type,
    bytes: bytesOf(packedElements(payload.data)),
    starts: Float64Array.from(firsts, (first) => first * elemBytes),
    sizes: Float64Array.from(lengths, (length) => length * elemBytes),
  }
}

function valueBlocks(what: string, data: unknown, size: number): SendBlocks {
  if (!Array.isArray(data)) {
    const got = data === null ? 'null' : typeof data
    const message = `${what}: expected a typed array or an array of ${size} values, got ${got}`
    throw new RankweaveError('ERR_TYPE', message)
  }
  if (data.length !== size)
    throw wrongValue('ERR_COUNT', `${what}: expected ${size} values, one per rank`, data.length)
  const blocks = data.map((value) => encodeValue(value, what))
  const sizes = Float64Array.from(blocks, (block) => block.byteLength)
  const starts = new Float64Array(size)
  for (let rank = 1; rank < size; rank++) starts[rank] = starts[rank - 1] + sizes[rank - 1]
  return { type: typeCode.value, bytes: concatenate(blocks), starts, sizes }
}

/** Returns the block of one rank, not copied. */
export function blockFor(sendBlocks: SendBlocks, rank: number): Uint8Array {
  return sendBlocks.bytes.subarray(sendBlocks.starts[rank], sendBlocks.starts[rank] + sendBlocks.sizes[rank])
}

/** Returns, for each rank here in turn, its blocks for `ranks`. */
export function blocksFor(
  all: readonly { readonly sendBlocks: SendBlocks }[],
  ranks: readonly number[],
): Uint8Array[] {
  return all.flatMap(({ sendBlocks }) => ranks.map((rank) => blockFor(sendBlocks, rank)))
}
