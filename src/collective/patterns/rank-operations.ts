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

/** Returns the number of pieces that a rank has after {@link scatterPieces}, its own first: those of its subtree. */
export function piecesScattered(ranks: number, vrank: number): number {
  return vrank === 0 ? ranks : Math.min(vrank & -vrank, ranks - vrank)
}

/**
 * Emits the operations of a rank in a scatter of P pieces from the root down a binomial tree. Subtrees are runs of
 * ranks, the largest first. ceil(lg P) phases.
 *
 * @param vrank distance from the root
 * @param peer returns the rank at a distance from the root
 * @param add adds so many pieces to the operation opened last, from the first on
 */
export function scatterPieces(
  operations: RankOperations,
  { ranks, rank, vrank, phase }: Readonly<Record<'ranks' | 'rank' | 'vrank' | 'phase', number>>,
  peer: (vrank: number) => number,
  add: (first: number, count: number) => void,
): void {
  const last = phase + ceilLog2(ranks) - 1
  if (vrank > 0) {
    const size = vrank & -vrank
    operations.receive(rank, last - Math.log2(size), peer(vrank - size))
    add(vrank, piecesScattered(ranks, vrank))
  }
  for (let size = 2 ** ceilLog2(ranks) / 2; size >= 1; size /= 2) {
    if (vrank % (2 * size) !== 0 || vrank + size >= ranks) continue
    operations.send(rank, last - Math.log2(size), peer(vrank + size))
    add(vrank + size, piecesScattered(ranks, vrank + size))
  }
}

/**
 * Emits the operations of a rank in a reduction of P pieces, at least two, around the ring: piece i starts at the rank
 * after i, gathers a contribution at every rank, and ends at rank i. P - 1 phases.
 *
 * @param partOf returns the part of a piece, 0 to P - 1
 * @param to the place of the rank's own piece, combined
 */
export function reduceAroundRing(
  operations: RankOperations,
  ranks: number,
  rank: number,
  phase: number,
  partOf: (piece: number) => number,
  to: number,
): void {
  const before = (rank - 1 + ranks) % ranks
  let held = partOf(before)
  for (let step = 0; step < ranks - 1; step++) {
    const sent = partOf((rank - 1 - step + ranks) % ranks)
    const part = partOf((rank - 2 - step + 2 * ranks) % ranks)
    operations.send(rank, phase + step, (rank + 1) % ranks).add(partialResult(sent), held)
    const operands = { part, held: part, to: step === ranks - 2 ? to : undefined }
    held = combineReceived(operations, rank, phase + step, before, operands)
  }
}
