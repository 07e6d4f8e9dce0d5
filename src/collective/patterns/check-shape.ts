import { RankweaveError, wrongValue } from '../../errors.js'
import type { Algorithm, Shape } from './algorithm.js'
import { requireGrid } from './participant-grid.js'
import { ceilLog2 } from './rank-operations.js'

/**
 * The largest shapes. Schedules number their contents with 32 bits, and their phases end at 2^24; `held` bounds the
 * blocks of all rows.
 */
export const shapeLimits = { ranks: 2 ** 22, segments: 4096, blocks: 2 ** 31 - 1, held: 2 ** 28 } as const

/**
 * Refuses a shape that no algorithm, or not this one, can serve.
 *
 * @throws ERR_ARGUMENT for a number of ranks or segments out of range, first ranks that do not ascend, and a shape that
 *   the algorithm refuses; for values that are not an algorithm and a shape
 * @throws ERR_RANK for a root out of range
 */
export function checkShape(algorithm: Algorithm, shape: Shape): void {
  if (typeof Object(algorithm).id !== 'string' || typeof Object(algorithm).emit !== 'function')
    throw wrongValue('ERR_ARGUMENT', 'expected an algorithm', algorithm)
  const { id } = algorithm
  requireShape(id, shape)
  const { ranks, firstRank } = shape
  if (firstRank !== undefined && !isRuns(firstRank, ranks)) {
    const message = `${id}: firstRank must ascend strictly from 0, as an Int32Array of ${ranks + 1} elements`
    throw new RankweaveError('ERR_ARGUMENT', message)
  }
  if (shape.grid !== undefined) requireGrid(id, shape.grid, ranks)
  const reason = algorithm.refuses?.(shape) ?? null
  if (reason !== null) throw new RankweaveError('ERR_ARGUMENT', `${id}: ${reason}`)
  if (algorithm.parts !== undefined) requireCount(id, 'parts', algorithm.parts(shape), shapeLimits.blocks)
}

/**
 * @throws ERR_ARGUMENT for a value that is not a shape, and a number of ranks or segments out of range
 * @throws ERR_RANK for a root out of range
 */
export function requireShape(what: string, shape: Shape): void {
  if (typeof shape !== 'object' || shape === null)
    throw wrongValue('ERR_ARGUMENT', `${what}: expected a shape`, shape)
  const { ranks, root = 0, segments = 1 } = shape
  requireCount(what, 'ranks', ranks, shapeLimits.ranks)
  requireCount(what, 'segments', segments, shapeLimits.segments)
  if (Number.isInteger(root) && root >= 0 && root < ranks) return
  throw wrongValue('ERR_RANK', `${what}: root must be a rank from 0 to ${ranks - 1}`, root)
}

/**
 * @throws ERR_ARGUMENT unless they are a list
 * @throws ERR_RANK for a rank that the shape does not have
 */
export function* ranksWithin({ ranks }: Shape, asked: Iterable<number>): Iterable<number> {
  if (typeof Object(asked)[Symbol.iterator] !== 'function')
    throw wrongValue('ERR_ARGUMENT', 'expected a list of ranks', asked)
  for (const rank of asked) {
    if (!Number.isInteger(rank) || rank < 0 || rank >= ranks)
      throw wrongValue('ERR_RANK', `expected ranks from 0 to ${ranks - 1}`, rank)
    yield rank
  }
}

function requireCount(what: string, name: string, value: number, most: number): void {
  if (Number.isInteger(value) && value >= 1 && value <= most) return
  throw wrongValue('ERR_ARGUMENT', `${what}: ${name} must be an integer from 1 to ${most}`, value)
}

function isRuns(firstRank: Int32Array, ranks: number): boolean {
  if (!(firstRank instanceof Int32Array) || firstRank.length !== ranks + 1 || firstRank[0] !== 0) return false
  return firstRank.every((first, participant) => participant === 0 || first > firstRank[participant - 1])
}

// These functions return why an algorithm cannot serve a number of ranks; null if it can.

export function onlyTwo({ ranks }: Shape): string | null {
  return ranks === 2 ? null : `the number of ranks must be 2, got ${ranks}`
}

export function onlyEven({ ranks }: Shape): string | null {
  return ranks % 2 === 0 || ranks === 1 ? null : `the number of ranks must be even, got ${ranks}`
}

export function onlyPowersOfTwo({ ranks }: Shape): string | null {
  return 2 ** ceilLog2(ranks) === ranks ? null : `the number of ranks must be a power of two, got ${ranks}`
}
