import { partialResult } from '../../schedule/ir.js'
import type { RankOperations } from './rank-operations.js'

/** A value of a part that a rank holds, and the place for the result of combining it. */
export interface HeldValue {
  readonly part: number
  readonly held: number
  /** The place of the result. Default: a new temporary place. */
  readonly to?: number | undefined
}

/** Receives a value of a part in a new temporary place. @returns the place */
export function receiveStaged(
  operations: RankOperations,
  rank: number,
  phase: number,
  source: number,
  part: number,
): number {
  const place = operations.stage(rank)
  operations.receive(rank, phase, source).add(partialResult(part), place)
  return place
}

/**
 * Receives a value of a part and combines it with the held one; that of the lower rank is the left operand.
 *
 * @returns the place of the result
 */
export function combineReceived(
  operations: RankOperations,
  rank: number,
  phase: number,
  source: number,
  { part, held, to = operations.stage(rank) }: HeldValue,
): number {
  const other = receiveStaged(operations, rank, phase, source, part)
  const [left, right] = source < rank ? [other, held] : [held, other]
  operations.combine(rank, phase, part, left, right, to)
  return to
}

/** Returns ceil(lg n) of a positive integer. */
export function ceilLog2(n: number): number {
  return 32 - Math.clz32(n - 1)
}
