import { type OptionTable, uncheckedOptions } from '../../base/option.js'
import type { Layout } from '../../calls/values/deliver.js'
import { RankweaveError } from '../../errors.js'

/** The places of blocks in a receive buffer, in elements. */
export interface BlockLayout {
  readonly displs: Int32Array
  /** The number of elements that the buffer needs. */
  readonly size: number
}

/** The counts of blocks that the caller expects, and their places. */
export interface BlockLayoutOptions {
  readonly counts?: ArrayLike<number>
  readonly displs?: ArrayLike<number>
}

export const blockLayoutOptions: OptionTable<BlockLayoutOptions> = {
  ...uncheckedOptions('counts', 'displs'),
}

/**
 * Places blocks at the caller's displacements, or packs them in slot order.
 *
 * @param arrived the number of elements of every block
 * @throws ERR_COUNT when the caller expected other counts
 */
export function blockLayout(
  name: string,
  arrived: Int32Array,
  { counts, displs }: Pick<Layout, 'counts' | 'displs'>,
): BlockLayout {
  if (counts !== undefined) checkCounts(name, arrived, counts)
  const starts = displs ?? new Int32Array(arrived.length)
  let size = 0
  for (let slot = 0; slot < arrived.length; slot++) {
    if (displs === undefined) starts[slot] = size
    size = Math.max(size, starts[slot] + arrived[slot])
  }
  return { displs: starts, size }
}

function checkCounts(name: string, arrived: Int32Array, counts: Int32Array): void {
  for (let slot = 0; slot < arrived.length; slot++) {
    if (counts[slot] === arrived[slot]) continue
    const message = `${name}: expected ${counts[slot]} elements in block ${slot}, ${arrived[slot]} arrived`
    throw new RankweaveError('ERR_COUNT', message, {
      details: { slot, expected: counts[slot], arrived: arrived[slot] },
    })
  }
}
