import { concatenateWords } from '../../base/packing.js'
import { below, mulberry32 } from '../../base/random.js'
import { RankweaveError, shown, wrongValue } from '../../errors.js'
import { ScheduleBuilder } from '../../schedule/builder.js'
import type { Parameters, Schedule } from '../../schedule/ir.js'
import { OperationLog, operationLimits, tooMany } from '../../schedule/operation-log.js'
import {
  type Collective,
  noReductions,
  type Reductions,
  type Specification,
  upTo,
} from '../../schedule/specification.js'
import type { Algorithm, Shape } from './algorithm.js'
import { checkShape, ranksWithin, requireShape, shapeLimits } from './check-shape.js'

/** The least number of ranks whose schedules are estimated. */
const leastEstimated = 1024
const samples = 64
/**
 * The number of smallest counts that are used. So the work of few ranks, like a root or the inner ranks of a tree, is
 * not assumed for all.
 */
const counted = 48
/** The number of operations, and of entries, after which sampling ends. */
const mostSampled = 2 ** 22

/** The size for all ranks whose operations are emitted; the true numbers are larger, usually by a third. */
interface ScheduleSize {
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
function requireSize(algorithm: Algorithm, shape: Shape, rows: readonly number[] | undefined): void {
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

/**
 * Returns what an algorithm's collective demands for a shape (MPI-4.1 chapter 6). The unit of data is what MPI's count
 * describes, cut into the algorithm's number of parts, or else into segments.
 *
 * | collective | contributes | slots | |---|---|---| | bcast | the root its parts | of every other rank: the parts | |
 * scatter | the root for every rank its segments | of every rank: its segments | | gather, allgather | every rank its
 * segments | of the root, of every rank: all, by rank | | alltoall | every rank for every rank its segments | of every
 * rank: what is for it, by rank | | reduce, allreduce | every rank its parts | of the root, of every rank: the parts
 * combined over all ranks | | reduce-scatter | every rank for every rank its segments | of every rank: its segments
 * combined over all ranks | | scan, exscan | every rank its parts | of every rank: the parts combined up to it, or
 * before it (rank 0: none) | | barrier | every rank one empty block | of every rank: all combined, each at least once |
 *
 * @param rows the ranks whose rows are filled, ascending; reductions that only others need are left out. Memory is
 *   proportional to the ranks and the contents of these rows. Default: all.
 * @throws ERR_ARGUMENT when there would be 2^31 blocks or more, or the rows would hold more than 2^28; for a shape out
 *   of range, and a collective that is specified by a topology
 * @throws ERR_RANK for a root or a row out of range
 */
export function specificationOf(
  algorithm: Pick<Algorithm, 'collective' | 'parts'>,
  shape: Shape,
  rows?: Iterable<number>,
): Specification {
  const { collective, parts } = Object(algorithm) as typeof algorithm
  requireShape(shown(collective), shape)
  const { ranks, root = 0, segments = 1 } = shape
  const { partsOf, slotsOf, reduces } = demandOf(
    collective,
    ranks,
    root,
    segments,
    parts?.(shape) ?? segments,
  )
  requireBlocks(collective, ranks, partsOf)
  const partStart = startsOf(ranks, partsOf)
  const reductions = new ReductionTable(partsOf(0))
  const ownRows: Int32Array[] = new Array(ranks).fill(none)
  const slotRows: Int32Array[] = new Array(ranks).fill(none)
  let held = 0
  for (const rank of rows === undefined ? Array(ranks).keys() : ranksWithin(shape, rows)) {
    held += partsOf(rank)
    requireHeld(collective, ranks, held)
    ownRows[rank] = upTo(partsOf(rank)).map((part) => partStart[rank] + part)
    const slots = slotsOf(rank)
    held += slots.length
    requireHeld(collective, ranks, held)
    slotRows[rank] =
      reduces === undefined ? slots : slots.map((part) => ~reductions.numberOf(part, reduces(rank)))
  }
  return {
    collective,
    ranks,
    partStart,
    ownStart: startsOf(ranks, (rank) => ownRows[rank].length),
    ownBlock: concatenateWords(ownRows),
    slotStart: startsOf(ranks, (rank) => slotRows[rank].length),
    slotTerm: concatenateWords(slotRows),
    reductions: reduces === undefined ? noReductions : reductions.table(collective === 'barrier'),
  }
}

/** A row of the table above. */
interface Demand {
  /** Returns the number of parts that a rank contributes. */
  partsOf(rank: number): number
  /** Returns the blocks of a rank's slots; in a reduction their parts. */
  slotsOf(rank: number): Int32Array
  /** Returns the number of ranks, from 0 on, over which the slots of a rank are reduced. Only reductions have it. */
  reduces?(rank: number): number
}

function demandOf(
  collective: Collective,
  ranks: number,
  root: number,
  segments: number,
  cut: number,
): Demand {
  const ofRank = (rank: number): Int32Array => range(rank * segments, segments)
  const onlyRoot = (count: number) => (rank: number) => (rank === root ? count : 0)
  switch (collective) {
    case 'bcast':
      return { partsOf: onlyRoot(cut), slotsOf: (rank) => (rank === root ? none : upTo(cut)) }
    case 'scatter':
      return { partsOf: onlyRoot(ranks * segments), slotsOf: ofRank }
    case 'gather':
      return { partsOf: () => segments, slotsOf: (rank) => upTo(onlyRoot(ranks * segments)(rank)) }
    case 'allgather':
      return { partsOf: () => segments, slotsOf: () => upTo(ranks * segments) }
    case 'alltoall':
      return {
        partsOf: () => ranks * segments,
        slotsOf: (rank) =>
          upTo(ranks * segments).map((slot) => {
            const origin = Math.floor(slot / segments)
            return (origin * ranks + rank) * segments + (slot % segments)
          }),
      }
    case 'reduce':
      return { partsOf: () => cut, slotsOf: (rank) => upTo(onlyRoot(cut)(rank)), reduces: () => ranks }
    case 'allreduce':
      return { partsOf: () => cut, slotsOf: () => upTo(cut), reduces: () => ranks }
    case 'reduce-scatter':
      return { partsOf: () => ranks * segments, slotsOf: ofRank, reduces: () => ranks }
    case 'scan':
      return { partsOf: () => cut, slotsOf: () => upTo(cut), reduces: (rank) => rank + 1 }
    case 'exscan':
      return {
        partsOf: () => cut,
        slotsOf: (rank) => (rank === 0 ? none : upTo(cut)),
        reduces: (rank) => rank,
      }
    case 'barrier':
      return { partsOf: () => 1, slotsOf: () => upTo(1), reduces: () => ranks }
    case 'neighbor-allgather':
    case 'neighbor-alltoall':
    case 'neighbor-reduce':
      throw new RankweaveError('ERR_ARGUMENT', `${collective} is specified by its topology`)
    default:
      throw wrongValue('ERR_ARGUMENT', 'expected a collective', collective)
  }
}

/** Reductions of one part over the ranks from 0 on, numbered as they are requested. Each is one run of blocks. */
class ReductionTable {
  readonly #parts: number
  readonly #first: number[] = []
  readonly #count: number[] = []
  readonly #numbers = new Map<number, number>()

  /** @param parts the number of parts of every rank */
  constructor(parts: number) {
    this.#parts = parts
  }

  numberOf(part: number, ranks: number): number {
    const key = ranks * this.#parts + part
    const known = this.#numbers.get(key)
    if (known !== undefined) return known
    const number = this.#first.length
    this.#numbers.set(key, number)
    this.#first.push(part)
    this.#count.push(ranks)
    return number
  }

  table(isIdempotent: boolean): Reductions {
    const first = Int32Array.from(this.#first)
    return {
      isIdempotent,
      runStart: upTo(first.length + 1),
      first,
      count: Int32Array.from(this.#count),
      stride: new Int32Array(first.length).fill(this.#parts),
    }
  }
}

function requireBlocks(collective: Collective, ranks: number, partsOf: (rank: number) => number): void {
  let blocks = 0
  for (let rank = 0; rank < ranks; rank++) blocks += partsOf(rank)
  if (blocks <= shapeLimits.blocks) return
  const message = `a schedule of ${collective} has at most ${shapeLimits.blocks} blocks, ${ranks} ranks would contribute ${blocks}`
  throw new RankweaveError('ERR_ARGUMENT', message)
}

/** @throws ERR_ARGUMENT for more blocks than a specification holds */
export function requireHeld(collective: Collective, ranks: number, held: number): void {
  if (held <= shapeLimits.held) return
  const message = `the specification of ${collective} for ${ranks} ranks holds more than ${shapeLimits.held} blocks: plan fewer ranks or segments, or some ranks alone`
  throw new RankweaveError('ERR_ARGUMENT', message)
}

const none = new Int32Array(0)

function range(first: number, count: number): Int32Array {
  return upTo(count).map((number) => first + number)
}

function startsOf(ranks: number, lengthOf: (rank: number) => number): Int32Array {
  const starts = new Int32Array(ranks + 1)
  for (let rank = 0; rank < ranks; rank++) starts[rank + 1] = starts[rank] + lengthOf(rank)
  return starts
}
