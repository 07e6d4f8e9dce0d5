import { type OptionTable, uncheckedOptions } from '../../base/option.js'
import { RankweaveError, wrongValue } from '../../errors.js'

const maxDisplacement = 0x7fffffff

/** Where blocks are in a receive buffer, in elements. */
export interface BlockLayout {
  readonly displs: Int32Array
  /** Elements the buffer needs. */
  readonly size: number
}

/** The blocks that the caller expects, and where they go. */
export interface BlockLayoutOptions {
  readonly counts?: ArrayLike<number>
  readonly displs?: ArrayLike<number>
}

export const blockLayoutOptions: OptionTable<BlockLayoutOptions> = {
  ...uncheckedOptions('counts', 'displs'),
}

/**
 * Places blocks at the caller's displacements, or packed in slot order.
 *
 * @param arrived elements of every block
 * @throws ERR_COUNT when the caller expected other counts, or a displacement is not an integer below 2^31
 */
export function blockLayout(
  name: string,
  arrived: Int32Array,
  { counts, displs }: BlockLayoutOptions,
): BlockLayout {
  if (counts !== undefined) checkCounts(name, arrived, counts)
  if (displs !== undefined && displs.length !== arrived.length) {
    const expected = `${name}: expected a displacement for each of ${arrived.length} blocks`
    throw wrongValue('ERR_COUNT', expected, displs.length)
  }
  const starts = new Int32Array(arrived.length)
  let size = 0
  for (let slot = 0; slot < arrived.length; slot++) {
    const start = displs === undefined ? size : displs[slot]
    if (!Number.isInteger(start) || start < 0 || start > maxDisplacement) {
      const expected = `${name}: expected an integer from 0 to ${maxDisplacement} as displacement of block ${slot}`
      throw wrongValue('ERR_COUNT', expected, start)
    }
    starts[slot] = start
    size = Math.max(size, start + arrived[slot])
  }
  return { displs: starts, size }
}

function checkCounts(name: string, arrived: Int32Array, counts: ArrayLike<number>): void {
  if (counts.length !== arrived.length) {
    const expected = `${name}: expected a count for each of ${arrived.length} blocks`
    throw wrongValue('ERR_COUNT', expected, counts.length)
  }
  for (let slot = 0; slot < arrived.length; slot++) {
    if (counts[slot] === arrived[slot]) continue
    const message = `${name}: expected ${counts[slot]} elements in block ${slot}, ${arrived[slot]} arrived`
    throw new RankweaveError('ERR_COUNT', message, {
      details: { slot, expected: counts[slot], arrived: arrived[slot] },
    })
  }
}
