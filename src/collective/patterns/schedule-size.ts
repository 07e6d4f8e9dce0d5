import { below, mulberry32 } from '../../base/random.js'
import { ScheduleBuilder } from '../../schedule/builder.js'
import type { Parameters, Schedule } from '../../schedule/ir.js'
import { OperationLog, operationLimits, tooMany } from '../../schedule/operation-log.js'
import type { Specification } from '../../schedule/specification.js'
import type { Algorithm, Shape } from './algorithm.js'
import { checkShape, ranksWithin } from './check-shape.js'
import { requireHeld, specificationOf } from './specification-of.js'

/** The least number of ranks whose schedules are estimated. */
export const leastEstimated = 1024
const samples = 64
/**
 * The number of smallest counts that are used. So the work of few ranks, like a root or the inner ranks of a tree, is
 * not assumed for all.
 */
const counted = 48
/** The number of operations, and of entries, after which sampling ends. */
const mostSampled = 2 ** 22

/** The size for all ranks whose operations are emitted; the true numbers are larger, usually by a third. */
export interface ScheduleSize {
  readonly operations: number
  readonly entries: number
  /** The number of blocks that ranks contribute or have slots for. */
  readonly held: number
}

/**
 * Refuses a much too large schedule before it is emitted: one in which the 48 smallest of 64 sampled ranks alone, each
 * standing for as many others, exceed a limit. Every refused schedule is too large. Schedules that are up to a third
 * too large are refused when they reach the limit.
 *
 * @param rows ranks whose operations are to be emitted; undefined for all
 * @throws ERR_SCHEDULE for too many operations or entries; ERR_ARGUMENT for too many blocks
 */
export function requireSize(algorithm: Algorithm, shape: Shape, rows: readonly number[] | undefined): void {
  const { operations, entries, held } = leastSize(algorithm, shape, rows)
  requireHeld(algorithm.collective, shape.ranks, held)
  if (operations > operationLimits.operations) throw tooMany('operations', operationLimits.operations)
  if (entries > operationLimits.entries) throw tooMany('entries', operationLimits.entries)
}

/** Bounds the size of a schedule from below by a sample. The sample is the same for the same number of ranks. */
export function leastSize(
  algorithm: Algorithm,
  shape: Shape,
  rows: readonly number[] | undefined,
): ScheduleSize {
  const count = rows?.length ?? shape.ranks
  const next = mulberry32(count)
  const sampled = Array.from({ length: samples }, () => {
    const index = below(next, count)
    return rows === undefined ? index : rows[index]
  })
  const specification = specificationOf(algorithm, shape, new Set(sampled))
  const { ownStart, slotStart } = specification
  const held = sampled.map(
    (rank) => ownStart[rank + 1] - ownStart[rank] + slotStart[rank + 1] - slotStart[rank],
  )
  const operations: number[] = []
  const entries: number[] = []
  const counter = new OperationCounter(shape.ranks)
  let [operationsBefore, entriesBefore] = [0, 0]
  countOperations(algorithm, shape, specification, sampled, counter, () => {
    operations.push(counter.opened - operationsBefore)
    entries.push(counter.added - entriesBefore)
    operationsBefore = counter.opened
    entriesBefore = counter.added
  })
  return {
    operations: leastTotal(operations, count),
    entries: leastTotal(entries, count),
    held: leastTotal(held, count),
  }
}

function leastTotal(ofSampled: readonly number[], ranks: number): number {
  const ascending = [...ofSampled].sort((a, b) => a - b)
  const smallest = ascending.slice(0, Math.ceil((ascending.length * counted) / samples))
  return Math.floor((smallest.reduce((sum, number) => sum + number, 0) * ranks) / ofSampled.length)
}

/** Thrown to leave an algorithm whose operations need not be counted further. */
const enough = Symbol('enough')

/**
 * Passes the operations of some ranks to a counter until it is full.
 *
 * @param specification with the rows of these ranks
 * @param counted called after each rank, the last one perhaps in part
 */
export function countOperations(
  algorithm: Algorithm,
  shape: Shape,
  specification: Specification,
  ranks: readonly number[],
  counter: OperationCounter,
  counted: (rank: number) => void,
): void {
  const builder = new ScheduleBuilder({ specification, strategy: algorithm.id }, counter)
  for (const rank of ranks) {
    try {
      algorithm.emit(shape, rank, builder, specification)
    } catch (error) {
      if (error !== enough) throw error
    }
    counted(rank)
    if (counter.isFull) return
  }
}

/** Counts operations instead of holding them. */
export class OperationCounter extends OperationLog {
  opened = 0
  added = 0

  get isFull(): boolean {
    return this.opened >= mostSampled || this.added >= mostSampled
  }

  override open(_rank: number, _phase: number, _kind: number, _peer: number, _tag: number): void {
    if (this.isFull) throw enough
    this.opened++
  }

  override add(_block: number, _from: number, _to: number, _right?: number): void {
    if (this.isFull) throw enough
    this.added++
  }

  override wait(): void {}
}

/**
 * Builds the schedule of an algorithm.
 *
 * @param ranks whose operations are emitted; the specification of others is left empty too. Default: all.
 * @throws ERR_ARGUMENT when the shape is out of range or the algorithm refuses it, and for values of other types
 * @throws ERR_RANK when the root or one of `ranks` is out of range
 * @throws ERR_SCHEDULE for more than 2^27 operations or 2^28 entries; with 1,024 ranks or more it is thrown before they
 *   are emitted, unless the excess is less than a third
 */
export function scheduleOf(algorithm: Algorithm, given: Shape, ranks?: Iterable<number>): Schedule {
  checkShape(algorithm, given)
  const { root = 0, segments = algorithm.sections ?? 1 } = given
  // The given object is reused, so that what an algorithm retains of a shape is found again.
  const isWhole = given.root !== undefined && given.segments !== undefined
  const shape = isWhole ? given : { ...given, root, segments }
  const rows = ranks === undefined ? undefined : rowsOf(shape, ranks)
  if ((rows?.length ?? shape.ranks) >= leastEstimated) requireSize(algorithm, shape, rows)
  const specification = specificationOf(algorithm, shape, rows)
  const parameters = { root, segments, ...algorithm.values, ...gridParameters(algorithm, shape) }
  const builder = new ScheduleBuilder({ specification, strategy: algorithm.id, parameters })
  for (const rank of rows ?? Array(shape.ranks).keys()) algorithm.emit(shape, rank, builder, specification)
  return builder.build()
}

/** Returns the parameters that show a reader of the schedule its grid; none if no message depends on a grid. */
function gridParameters({ followsGrid }: Algorithm, { grid }: Shape): Parameters {
  if (followsGrid !== true || grid === undefined) return {}
  const { dims, wraps, perNode = 1 } = grid
  const wrap = wraps.every((is) => is) ? {} : { wrap: wraps.map(Number).join('') }
  return { dims: dims.join('x'), ...wrap, ...(perNode === 1 ? {} : { perNode }) }
}

/** Returns the distinct rows, ascending. */
function rowsOf(shape: Shape, asked: Iterable<number>): readonly number[] {
  return [...new Set(ranksWithin(shape, asked))].sort((a, b) => a - b)
}
