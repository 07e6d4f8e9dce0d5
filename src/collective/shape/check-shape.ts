import { RankweaveError, shown } from '../../errors.js'
import type { Algorithm, Shape } from './algorithm.js'

/** Largest shapes: what a schedule holds is numbered with 32 bits, and its phases end at 2^24; `held` bounds the blocks of all rows. */
export const shapeLimits = { ranks: 2 ** 22, segments: 2 ** 20, blocks: 2 ** 31 - 1, held: 2 ** 28 } as const

/**
 * Refuses a shape that no algorithm, or not this one, can serve.
 *
 * @throws ERR_ARGUMENT for a number of ranks or segments out of range, first ranks that do not ascend, and a shape
 *   that the algorithm refuses
 * @throws ERR_RANK for a root out of range
 */
export function checkShape(algorithm: Algorithm, shape: Shape): void {
  const { ranks, root = 0, segments = 1, firstRank } = shape
  requireCount(algorithm, 'ranks', ranks, shapeLimits.ranks)
  requireCount(algorithm, 'segments', segments, shapeLimits.segments)
  if (!Number.isInteger(root) || root < 0 || root >= ranks) {
    throw new RankweaveError(
      'ERR_RANK',
      `${algorithm.id}: root must be a rank from 0 to ${ranks - 1}, got ${shown(root)}`,
    )
  }
  if (firstRank !== undefined && !isRuns(firstRank, ranks)) {
    throw new RankweaveError(
      'ERR_ARGUMENT',
      `${algorithm.id}: firstRank must ascend strictly from 0 and have ${ranks + 1} elements`,
    )
  }
  const reason = algorithm.refuses?.(shape) ?? null
  if (reason !== null) throw new RankweaveError('ERR_ARGUMENT', `${algorithm.id}: ${reason}`)
  if (algorithm.parts !== undefined) {
    requireCount(algorithm, 'parts', algorithm.parts(shape), shapeLimits.blocks)
  }
}

function requireCount({ id }: Algorithm, name: string, value: number, most: number): void {
  if (Number.isInteger(value) && value >= 1 && value <= most) return
  throw new RankweaveError(
    'ERR_ARGUMENT',
    `${id}: ${name} must be an integer from 1 to ${most}, got ${shown(value)}`,
  )
}

function isRuns(firstRank: Int32Array, ranks: number): boolean {
  if (firstRank.length !== ranks + 1 || firstRank[0] !== 0) return false
  return firstRank.every((first, participant) => participant === 0 || first > firstRank[participant - 1]!)
}
