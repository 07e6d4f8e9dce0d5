import { RankweaveError, shown } from '../errors.js'

/**
 * Bounds of `count` elements distributed over `parts` contiguous blocks: block i is `bounds[i]` to
 * `bounds[i + 1] - 1`. The first `count mod parts` blocks have one more element. With more parts than
 * elements, the last blocks are empty.
 *
 * @throws ERR_ARGUMENT
 */
export function blockBounds(count: number, parts: number): Int32Array {
  if (!Number.isInteger(count) || count < 0 || count > 2 ** 31 - 1)
    throw new RankweaveError('ERR_ARGUMENT', `expected 0 to 2^31 - 1 elements, got ${shown(count)}`)
  if (!Number.isInteger(parts) || parts < 1)
    throw new RankweaveError('ERR_ARGUMENT', `expected at least one part, got ${shown(parts)}`)
  const size = Math.floor(count / parts)
  const larger = count % parts
  return Int32Array.from({ length: parts + 1 }, (_, i) => i * size + Math.min(i, larger))
}
