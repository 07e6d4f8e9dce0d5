import { expectClose, type Program, type Share, shareOf, sharesOf, unit } from '../program.js'

const count = 10_000_000
const bins = 1000

function fill(values: Float32Array, from = 0): Float32Array {
  for (let i = 0; i < values.length; i++) values[i] = unit(from + i) * unit(from + i + 1)
  return values
}

export interface Values extends Share {
  readonly values: Float32Array
}

/** Counts the values from 0 to below 1 by bin. */
export function countByBin({ values, begin, end }: Values): Int32Array {
  const counts = new Int32Array(bins)
  for (let i = begin; i < end; i++) counts[Math.min(bins - 1, Math.floor(values[i] * bins))]++
  return counts
}

function plain() {
  const values = fill(new Float32Array(count))
  return () => countByBin({ values, begin: 0, end: count })
}

/** One pass over many values: little work for each of them, and a small result of each part. */
export const histogram: Program = {
  loops: 7,
  plain,
  inPool(pool, parts) {
    const values = fill(new Float32Array(new SharedArrayBuffer(4 * count)))
    const shares = sharesOf(count, parts)
    return async () => {
      const all = await Promise.all(
        shares.map((share) => pool.run<Int32Array>('countByBin', { values, ...share })),
      )
      return all.reduce((sums, counts) => sums.map((sum, bin) => sum + counts[bin]))
    }
  },
  async onRanks(world) {
    const { begin, end } = shareOf(count, world.rank, world.size)
    const values = fill(new Float32Array(end - begin), begin)
    return async () => world.reduce(countByBin({ values, begin: 0, end: end - begin }), 'sum')
  },
  check: (result) => expectClose(result, plain()()),
}
