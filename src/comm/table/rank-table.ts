import { processOf, type WorldLayout } from '../process/world-layout.js'
import { WorldRankIndex } from './world-rank-index.js'

/**
 * Rank in a communicator -> world rank, shared by all ranks of a process. `lookup` may return a
 * promise: a distributed table has most rows on other processes (decision 9), so callers must handle both.
 */
export interface RankTable {
  readonly kind: 'strided' | 'replicated' | 'distributed'
  readonly size: number
  lookup(rank: number): number | Promise<number>
  /** Bytes this process retains for the table. */
  readonly sizeBytes: number
}

/** A table whose rows are all here. `find` returns the rank of a world rank, -1 if it has none. */
export type LocalRankTable = StridedTable | ReplicatedTable

/** Rank r is world rank `start + r * stride`: the world itself, its halves, rows and columns of grids. O(1) memory. */
export class StridedTable implements RankTable {
  readonly kind = 'strided'
  readonly sizeBytes = 24
  readonly size: number
  readonly start: number
  readonly stride: number

  constructor(size: number, start: number, stride: number) {
    this.size = size
    this.start = start
    // One form per content, so that equal tables compare equal field by field.
    this.stride = size > 1 ? stride : 1
  }

  lookup(rank: number): number {
    return this.start + rank * this.stride
  }

  find(worldRank: number): number {
    const rank = (worldRank - this.start) / this.stride
    // `| 0` also turns -0, which a falling stride gives, into 0.
    return Number.isInteger(rank) && rank >= 0 && rank < this.size ? rank | 0 : -1
  }
}

/** Every world rank listed. */
export class ReplicatedTable implements RankTable {
  readonly kind = 'replicated'
  #worldRanks: Int32Array
  #index: WorldRankIndex | undefined

  constructor(worldRanks: Int32Array) {
    this.#worldRanks = worldRanks
  }

  get worldRanks(): Int32Array {
    return this.#worldRanks
  }

  /** Replaces the array with an equal one. */
  adopt(worldRanks: Int32Array): void {
    this.#worldRanks = worldRanks
  }

  get size(): number {
    return this.#worldRanks.length
  }

  get sizeBytes(): number {
    return this.#worldRanks.byteLength + (this.#index?.sizeBytes ?? 0)
  }

  lookup(rank: number): number {
    return this.#worldRanks[rank]!
  }

  find(worldRank: number): number {
    this.#index ??= new WorldRankIndex(this.#worldRanks)
    return this.#index.find(worldRank)
  }
}

/**
 * Builds the smallest table for the given distinct world ranks: `strided` when they form an arithmetic progression,
 * else `replicated` (which retains `worldRanks` itself).
 */
export function rankTable(worldRanks: Int32Array): LocalRankTable {
  const size = worldRanks.length
  const start = size > 0 ? worldRanks[0]! : 0
  const stride = size > 1 ? worldRanks[1]! - start : 1
  for (let rank = 2; rank < size; rank++) {
    if (worldRanks[rank] !== start + rank * stride) return new ReplicatedTable(worldRanks)
  }
  return new StridedTable(size, start, stride)
}

/** World ranks `start`, `start + stride`, ... without listing them. */
export function stridedTable(size: number, start = 0, stride = 1): LocalRankTable {
  return new StridedTable(size, start, stride)
}

/** The world rank of every rank. A replicated table returns its own array: do not write to it. */
export function worldRanksOf(table: LocalRankTable): Int32Array {
  if (table.kind === 'replicated') return table.worldRanks
  const { size, start, stride } = table
  const worldRanks = new Int32Array(size)
  for (let rank = 0, worldRank = start; rank < size; rank++, worldRank += stride) worldRanks[rank] = worldRank
  return worldRanks
}

/**
 * The processes of a communicator and the maximal runs of consecutive ranks on one process. Processes are numbered by
 * the smallest rank each hosts; with a distributed table only number 0 is certain to be that of rank 0. O(runs)
 * memory, not O(ranks).
 */
export interface ProcessTable {
  /** Number of processes that host at least one rank. */
  readonly count: number
  /** World process of every process index. Length `count`. */
  readonly processes: Int32Array
  /** First rank of every run, then the size. Length `runs + 1`. */
  readonly runStart: Int32Array
  /** Process index of every run. Length `runs`. */
  readonly runProcess: Int32Array
}

/**
 * The processes of a table's ranks. O(runs lg processes) for strided tables, else O(size).
 *
 * @param numbered world processes by the index they have already, all of them that host ranks of the table
 */
export function processTable(
  table: LocalRankTable,
  layout: WorldLayout,
  numbered?: Int32Array,
): ProcessTable {
  const { firstRank } = layout
  const endOfRun = table.kind === 'strided' ? endInProgression : endByWalk
  const runStart: number[] = []
  const runProcess: number[] = []
  const processes: number[] = numbered === undefined ? [] : [...numbered]
  const indexOf = new Map<number, number>(processes.map((process, index) => [process, index]))
  let rank = 0
  while (rank < table.size) {
    const process = processOf(layout, table.lookup(rank))
    let index = indexOf.get(process)
    if (index === undefined) {
      index = processes.length
      indexOf.set(process, index)
      processes.push(process)
    }
    runStart.push(rank)
    runProcess.push(index)
    rank = endOfRun(table, rank, firstRank[process]!, firstRank[process + 1]!)
  }
  runStart.push(table.size)
  return {
    count: processes.length,
    processes: new Int32Array(processes),
    runStart: new Int32Array(runStart),
    runProcess: new Int32Array(runProcess),
  }
}

/**
 * The processes of a communicator whose ranks' locations are not known here. Index 0 hosts rank 0. A caller that needs the
 * runs must place the communicator first (`CommContext.place`).
 */
export function unplacedProcesses(processes: Int32Array): ProcessTable {
  const unknown = (): never => {
    throw new Error('the locations of the ranks of this communicator are not known here; place it first')
  }
  return {
    count: processes.length,
    processes,
    get runStart() {
      return unknown()
    },
    get runProcess() {
      return unknown()
    },
  }
}

/** First rank at or after `rank` whose world rank is not in [from, to). A progression leaves that range at most once. */
function endInProgression(table: LocalRankTable, _rank: number, from: number, to: number): number {
  const { size, start, stride } = table as StridedTable
  const last = stride > 0 ? Math.floor((to - 1 - start) / stride) : Math.floor((start - from) / -stride)
  return Math.min(size, last + 1)
}

function endByWalk(table: LocalRankTable, rank: number, from: number, to: number): number {
  const { worldRanks } = table as ReplicatedTable
  let end = rank + 1
  while (end < worldRanks.length && worldRanks[end]! >= from && worldRanks[end]! < to) end++
  return end
}
