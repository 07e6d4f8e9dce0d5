import { rangeAt } from '../../base/search.js'
import { RankweaveError, wrongValue } from '../../errors.js'
import { entriesByRow, rowStarts } from '../../topology/compressed-rows.js'
import { topologyLimits } from '../../topology/limits.js'
import type { Schedule } from '../ir.js'
import { blockCount, type Specification } from '../specification.js'
import { type MessageRounds, roundsAwaited } from './rounds.js'

/** A schedule and a placement, with the facts that the lowering of all processes shares. */
export interface LoweringContext {
  readonly schedule: Schedule
  readonly placement: Int32Array
  readonly rounds: MessageRounds
  /** The rounds that messages await, see {@link roundsAwaited}. */
  readonly awaited: Int32Array
  /** The ranks sorted by process, then rank. */
  readonly rankByProcess: Int32Array
  /** The start of each process in `rankByProcess`. */
  readonly processStart: Int32Array
  /**
   * Whether ranks hold no blocks of other origins before. If so, a block need not be sent to the process of its origin.
   * Collectives of one rank per process keep such blocks: a schedule sends them so that messages are runs.
   */
  readonly hasHomes: boolean
}

/** @throws ERR_PLACEMENT unless it is an Int32Array */
export function requirePlacement(placement: unknown): asserts placement is Int32Array {
  if (placement instanceof Int32Array) return
  throw wrongValue('ERR_PLACEMENT', 'expected the process of every rank as an Int32Array', placement)
}

/** Returns the largest process plus one. */
export function processCount(placement: Int32Array): number {
  return placement.reduce((most, process) => Math.max(most, process + 1), 0)
}

/** @throws ERR_PLACEMENT */
export function loweringContext(
  schedule: Schedule,
  placement: Int32Array,
  rounds: MessageRounds,
): LoweringContext {
  const { ranks } = schedule.specification
  if (placement.length !== ranks) {
    throw new RankweaveError(
      'ERR_PLACEMENT',
      `a placement must give each of ${ranks} ranks its process, got ${placement.length} processes`,
    )
  }
  const homeless = placement.findIndex((process) => process < 0)
  if (homeless !== -1) {
    const expected = `the process of rank ${homeless} must be at least 0`
    throw wrongValue('ERR_PLACEMENT', expected, placement[homeless], { rank: homeless })
  }
  const processes = processCount(placement)
  if (processes > topologyLimits.ranks)
    throw wrongValue('ERR_PLACEMENT', `expected processes below ${topologyLimits.ranks}`, processes - 1)
  const processStart = rowStarts(processes, placement)
  const rankByProcess = entriesByRow(processStart, placement)
  const isAsStated = schedule.topology === null && processes === ranks
  const hasHomes = !isAsStated && holdOwnOnly(schedule.specification)
  const awaited = roundsAwaited(schedule, rounds)
  return { schedule, placement, rounds, awaited, rankByProcess, processStart, hasHomes }
}

function holdOwnOnly({ ranks, partStart, ownStart, ownBlock }: Specification): boolean {
  for (let rank = 0; rank < ranks; rank++) {
    for (let i = ownStart[rank]; i < ownStart[rank + 1]; i++) {
      if (ownBlock[i] < partStart[rank] || ownBlock[i] >= partStart[rank + 1]) return false
    }
  }
  return true
}

/** @throws ERR_PLACEMENT */
export function hostedRanks({ processStart, rankByProcess }: LoweringContext, process: number): Int32Array {
  if (!Number.isInteger(process) || process < 0)
    throw wrongValue('ERR_PLACEMENT', 'a process must be an integer of at least 0', process)
  const processes = processStart.length - 1
  return process < processes
    ? rankByProcess.slice(processStart[process], processStart[process + 1])
    : new Int32Array(0)
}

/** Returns the process that has a block from the start, because it hosts the origin; -1 if that is uncertain. */
export function homeOfBlock({ schedule, placement, hasHomes }: LoweringContext, block: number): number {
  if (!hasHomes) return -1
  const { partStart, ranks } = schedule.specification
  // This guess is right if all ranks have equally many parts.
  let origin = Math.floor((block * ranks) / partStart[ranks])
  if (block < partStart[origin] || block >= partStart[origin + 1]) origin = rangeAt(partStart, block)
  return placement[origin]
}

/** So many elements of an array take less time and memory to fill than an entry of a map. */
const elementsPerEntry = 64

/** A number for each block, -1 until one is set. */
export class NumberOfBlock {
  readonly #array: Int32Array | null
  readonly #map = new Map<number, number>()

  /** @param expected the number of blocks that get a number: a map has them if there are far more blocks */
  constructor({ specification }: Schedule, expected: number) {
    const blocks = blockCount(specification)
    this.#array = blocks <= elementsPerEntry * (expected + 1) ? new Int32Array(blocks).fill(-1) : null
  }

  get(block: number): number {
    return (this.#array === null ? this.#map.get(block) : this.#array[block]) ?? -1
  }

  set(block: number, number: number): void {
    if (this.#array === null) this.#map.set(block, number)
    else this.#array[block] = number
  }
}
