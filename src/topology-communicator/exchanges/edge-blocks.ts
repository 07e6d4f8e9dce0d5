import { countsOf, packedDispls } from '../../calls/values/deliver.js'
import { RankweaveError, wrongValue } from '../../errors.js'
import { elementSizeBytes, type TypedArray } from '../../messages/datatype/elements.js'
import { contributionOf } from '../memory/buffers.js'

/** The blocks that a rank sends along its edges: block j is `counts[j]` elements from `starts[j]` on. */
export interface EdgeBlocks {
  /** The wire code of the elements. */
  readonly type: number
  readonly elements: TypedArray
  readonly starts: Int32Array
  readonly counts: Int32Array
}

/**
 * Cuts a buffer into blocks of one length, side by side. `count` is null for a buffer without blocks.
 *
 * @param slots blocks of the send buffer
 * @throws ERR_TYPE unless the data are elements; ERR_COUNT when they cannot be cut into so many blocks
 */
export function equalEdgeBlocks(
  name: string,
  data: unknown,
  slots: number,
): { readonly type: number; readonly elements: TypedArray; readonly count: number | null } {
  const { type, elements } = contributionOf(name, data)
  const count = slots === 0 ? 0 : elements.length / slots
  if (!Number.isInteger(count) || (slots === 0 && elements.length > 0)) {
    const expected = `${name}: expected a multiple of ${slots} elements, one block per destination`
    throw wrongValue('ERR_COUNT', expected, elements.length)
  }
  return { type, elements, count: slots === 0 ? null : count }
}

/**
 * Lists blocks of any lengths, by default side by side.
 *
 * @throws ERR_TYPE unless the data are elements; ERR_COUNT without one count and displacement per block, or for one
 *   outside the elements
 */
export function countedEdgeBlocks(
  name: string,
  data: unknown,
  slots: number,
  counts: ArrayLike<number>,
  displs: ArrayLike<number> | undefined,
): EdgeBlocks {
  const { type, elements } = contributionOf(name, data)
  const lengths = countsOf(`${name}: sendCounts`, counts, slots, 'destination')
  const starts =
    displs === undefined
      ? packedDispls(lengths)
      : countsOf(`${name}: sendDispls`, displs, slots, 'destination')
  for (let slot = 0; slot < slots; slot++) {
    const end = starts[slot] + lengths[slot]
    if (lengths[slot] > 0 && end > elements.length) {
      const message = `${name}: block ${slot} ends at element ${end}, but the data has ${elements.length} of ${elementSizeBytes(type)} bytes`
      throw new RankweaveError('ERR_COUNT', message, { details: { slot } })
    }
  }
  return { type, elements, starts, counts: lengths }
}
