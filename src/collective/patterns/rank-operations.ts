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
