import { wrongValue } from '../errors.js'
import { topologyLimits } from './limits.js'

/** Lists of ranks, one per rank: those of r are `rank[start[r] .. start[r+1]-1]`. */
export interface CompressedRows {
  /** Length `ranks + 1`. */
  readonly start: Int32Array
  readonly rank: Int32Array
}

/** Returns the rows of the reversed edges: r is in row q as often as q is in row r. The new rows ascend. */
export function transposeRows(ranks: number, { start, rank }: CompressedRows): CompressedRows {
  const turned = rowStarts(ranks, rank)
  const next = turned.slice(0, ranks)
  const other = new Int32Array(rank.length)
  for (let r = 0; r < ranks; r++) for (let e = start[r]; e < start[r + 1]; e++) other[next[rank[e]]++] = r
  return { start: turned, rank: other }
}

/** Returns the rows in another order: row i is that of `order[i]`. */
export function permuteRows({ start, rank }: CompressedRows, order: Int32Array): CompressedRows {
  const permuted = new Int32Array(start.length)
  for (const [i, r] of order.entries()) permuted[i + 1] = permuted[i] + start[r + 1] - start[r]
  const ranks = new Int32Array(rank.length)
  for (const [i, r] of order.entries()) ranks.set(rank.subarray(start[r], start[r + 1]), permuted[i])
  return { start: permuted, rank: ranks }
}

/** Returns row starts from the row of every edge, in any order. Length `ranks + 1`. */
export function rowStarts(ranks: number, rowOf: ArrayLike<number>): Int32Array {
  const start = new Int32Array(ranks + 1)
  for (let e = 0; e < rowOf.length; e++) start[rowOf[e] + 1]++
  for (let r = 0; r < ranks; r++) start[r + 1] += start[r]
  return start
}

/**
 * Returns the numbers of entries row by row, those of a row ascending (a stable counting sort).
 * @param start from {@link rowStarts}
 */
export function entriesByRow(start: Int32Array, rowOf: ArrayLike<number>): Int32Array {
  const next = start.slice()
  const order = new Int32Array(rowOf.length)
  for (let e = 0; e < order.length; e++) order[next[rowOf[e]]++] = e
  return order
}

/**
 * Returns the bounds of `count` elements distributed over `parts` contiguous blocks: block i is `bounds[i]` to
 * `bounds[i + 1] - 1`. The first `count mod parts` blocks have one more element. With more parts than elements, the
 * last blocks are empty.
 *
 * @param parts 1 to 2^24, the largest number of ranks
 * @throws ERR_ARGUMENT
 */
export function blockBounds(count: number, parts: number): Int32Array {
  if (!Number.isInteger(count) || count < 0 || count > 2 ** 31 - 1)
    throw wrongValue('ERR_ARGUMENT', 'expected 0 to 2^31 - 1 elements', count)
  if (!Number.isInteger(parts) || parts < 1 || parts > topologyLimits.ranks)
    throw wrongValue('ERR_ARGUMENT', `expected 1 to ${topologyLimits.ranks} parts`, parts)
  const size = Math.floor(count / parts)
  const larger = count % parts
  return Int32Array.from({ length: parts + 1 }, (_, i) => i * size + Math.min(i, larger))
}
