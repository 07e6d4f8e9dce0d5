import { partialResult } from '../../schedule/ir.js'

/**
 * The receiver of the operations of ranks: a builder of schedules, or one that states them for a part of a schedule.
 * Open an operation, then add its entries, as with `ScheduleBuilder`.
 */
export interface RankOperations {
  /** Returns the place of a rank's result of this number. */
  slot(rank: number, index: number): number
  /** Reserves temporary places at a rank and returns the first. */
  stage(rank: number, places?: number): number
  /** Opens a send; add its blocks with the places from which they are read. */
  send(rank: number, phase: number, destination: number): RankOperations
  /** Opens a receive; add its blocks with the places to which they are written. */
  receive(rank: number, phase: number, source: number): RankOperations
  /**
   * Delays the send or receive opened last until all messages of its rank in phases up to `phase` are complete. Below 0
   * it starts when its data are there.
   */
  after(phase: number): RankOperations
  /** Opens a copy; add its blocks with the place read and the place written. */
  copy(rank: number, phase: number): RankOperations
  /** Combines the values of a part in two places into a third place: left operand `op` right operand. */
  combine(rank: number, phase: number, part: number, left: number, right: number, to: number): RankOperations
  /** Adds a block, or `partialResult(part)`, to the operation opened last. */
  add(block: number, place: number, copyTo?: number): RankOperations
}

/** A value of a part that a rank holds, and the place for the result of combining it. */
interface HeldValue {
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
