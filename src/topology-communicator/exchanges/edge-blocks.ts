import { RankweaveError, shown, wrongValue } from '../../errors.js'
import { elementSizeBytes, type TypedArray } from '../../messages/datatype/elements.js'
import { contributionOf } from '../memory/buffers.js'

/** What a rank sends along its edges: block j is `counts[j]` elements from `starts[j]` on. */
export interface EdgeBlocks {
  /** Wire code of the elements. */
  readonly type: number
  readonly elements: TypedArray
  readonly starts: Int32Array
  readonly counts: Int32Array
}

/**
 * Blocks of one length, side by side, of `count` elements: null of a buffer without blocks.
 *
 * @param slots blocks of the send buffer
 * @throws ERR_TYPE for what is not elements; ERR_COUNT when they cannot be cut into so many blocks
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
 * Blocks of any lengths, by default side by side.
 *
 * @throws ERR_TYPE for what is not elements; ERR_COUNT for other than one count, and displacement, per block,
 *   or one outside the elements
 */
export function countedEdgeBlocks(
  name: string,
  data: unknown,
  slots: number,
  counts: ArrayLike<number>,
  displs: ArrayLike<number> | undefined,
): EdgeBlocks {
  const { type, elements } = contributionOf(name, data)
  requirePerBlock(name, 'sendCounts', counts, slots)
  if (displs !== undefined) requirePerBlock(name, 'sendDispls', displs, slots)
  const starts = new Int32Array(slots)
  let next = 0
  for (let slot = 0; slot < slots; slot++) {
    starts[slot] = displs?.[slot] ?? next
    const end = starts[slot] + counts[slot]
    if (counts[slot] > 0 && end > elements.length) {
      const message = `${name}: block ${slot} ends at element ${end}, but the data has ${elements.length} of ${elementSizeBytes(type)} bytes`
      throw new RankweaveError('ERR_COUNT', message, { details: { slot } })
    }
    next += counts[slot]
  }
  return { type, elements, starts, counts: Int32Array.from(counts) }
}

function requirePerBlock(name: string, what: string, list: ArrayLike<number>, slots: number): void {
  if (typeof list !== 'object' || list === null || list.length !== slots) {
    const got = typeof list === 'object' && list !== null ? `${list.length}` : shown(list)
    const message = `${name}: expected ${slots} ${what}, one per destination, got ${got}`
    throw new RankweaveError('ERR_COUNT', message)
  }
  for (let slot = 0; slot < slots; slot++) {
    const value = list[slot]
    if (Number.isInteger(value) && value >= 0 && value <= 0x7fffffff) continue
    const expected = `${name}: ${what}[${slot}] must be an integer from 0 to 2^31 - 1`
    throw wrongValue('ERR_COUNT', expected, value, { slot })
  }
}
