import type { CommProcesses, RankRuns } from '../../messages/process/comm-context.js'
import { processOf, type WorldLayout } from '../../messages/process/world-layout.js'
import { ProcessList } from './process-list.js'
import type { LocalRankTable, ReplicatedTable, StridedTable } from './rank-table.js'

/**
 * The processes of a communicator, and which of them hosts which ranks. Processes are numbered by the smallest rank
 * each hosts. With a distributed table only number 0 is certain to be that of rank 0.
 */
export class ProcessTable implements CommProcesses {
  readonly processes: ProcessList
  readonly #table: LocalRankTable | undefined
  readonly #layout: WorldLayout
  #runs: RankRuns | undefined

  /** @param table undefined if the locations of the ranks are not known here */
  constructor(processes: ProcessList, table: LocalRankTable | undefined, layout: WorldLayout) {
    this.processes = processes
    this.#table = table
    this.#layout = layout
  }

  get count(): number {
    return this.processes.count
  }

  get runStart(): Int32Array {
    return this.#located().runStart
  }

  get runProcess(): Int32Array {
    return this.#located().runProcess
  }

  /**
   * The bytes of its arrays. The runs are made, and retained, when a collective that gathers or scatters by rank needs
   * them.
   */
  get sizeBytes(): number {
    const runs = this.#runs
    const runBytes = runs === undefined ? 0 : runs.runStart.byteLength + runs.runProcess.byteLength
    return this.processes.sizeBytes + runBytes
  }

  /** Returns the rank after the run of consecutive ranks on one process that `rank` is in. */
  endOfRun(rank: number): number {
    const table = this.#placed()
    return endOfRun(table, rank, this.#layout, processOf(this.#layout, table.lookup(rank)))
  }

  #located(): RankRuns {
    this.#runs ??= runsOf(this.#placed(), this.#layout, (process) => this.processes.indexOf(process))
    return this.#runs
  }

  #placed(): LocalRankTable {
    if (this.#table !== undefined) return this.#table
    throw new Error('the locations of the ranks of this communicator are not known here; place it first')
  }
}

/**
 * Returns the processes of a table's ranks. O(runs lg processes) for strided tables, otherwise O(size).
 *
 * @param processes world processes by the index they have already, all of them that host ranks of the table
 */
export function processTable(
  table: LocalRankTable,
  layout: WorldLayout,
  processes = processesOf(table, layout),
): ProcessTable {
  return new ProcessTable(processes, table, layout)
}

/** Returns the world processes in the order in which the ranks of a table reach them. */
export function processesOf(table: LocalRankTable, layout: WorldLayout): ProcessList {
  const found = new Set<number>()
  forEachRun(table, layout, (process) => found.add(process))
  return new ProcessList(Int32Array.from(found))
}

/** Returns the ranks of a table that a process hosts, ascending. */
export function ranksHostedBy(
  process: number,
  table: LocalRankTable,
  { firstRank }: WorldLayout,
): Int32Array {
  const from = firstRank[process]
  const to = firstRank[process + 1]
  if (table.kind === 'strided') {
    const { size, start, stride } = table
    // A progression is in the block of one process for one run.
    const near = Math.ceil((stride > 0 ? from - start : to - 1 - start) / stride)
    const end = Math.ceil((stride > 0 ? to - start : from - 1 - start) / stride)
    const first = Math.max(0, near)
    const ranks = new Int32Array(Math.max(0, Math.min(size, end) - first))
    for (let i = 0; i < ranks.length; i++) ranks[i] = first + i
    return ranks
  }
  const { worldRanks } = table
  const ranks = new Int32Array(Math.min(to - from, worldRanks.length))
  let count = 0
  for (let rank = 0; rank < worldRanks.length; rank++) {
    if (worldRanks[rank] >= from && worldRanks[rank] < to) ranks[count++] = rank
  }
  return count === ranks.length ? ranks : ranks.slice(0, count)
}

function runsOf(table: LocalRankTable, layout: WorldLayout, indexOf: (process: number) => number): RankRuns {
  const runStart: number[] = []
  const runProcess: number[] = []
  forEachRun(table, layout, (process, rank) => {
    runStart.push(rank)
    runProcess.push(indexOf(process))
  })
  runStart.push(table.size)
  return { runStart: Int32Array.from(runStart), runProcess: Int32Array.from(runProcess) }
}

function forEachRun(
  table: LocalRankTable,
  layout: WorldLayout,
  visit: (process: number, firstRank: number) => void,
): void {
  for (let rank = 0; rank < table.size; ) {
    const process = processOf(layout, table.lookup(rank))
    visit(process, rank)
    rank = endOfRun(table, rank, layout, process)
  }
}

/** Returns the first rank after `rank` that `process`, which hosts `rank`, does not host. */
function endOfRun(table: LocalRankTable, rank: number, { firstRank }: WorldLayout, process: number): number {
  const from = firstRank[process]
  const to = firstRank[process + 1]
  return table.kind === 'strided' ? endInProgression(table, from, to) : endByWalk(table, rank, from, to)
}

/** Returns the first rank whose world rank is beyond [from, to), which the progression leaves at most once. */
function endInProgression({ size, start, stride }: StridedTable, from: number, to: number): number {
  const last = stride > 0 ? Math.floor((to - 1 - start) / stride) : Math.floor((start - from) / -stride)
  return Math.min(size, last + 1)
}

function endByWalk({ worldRanks }: ReplicatedTable, rank: number, from: number, to: number): number {
  let end = rank + 1
  while (end < worldRanks.length && worldRanks[end] >= from && worldRanks[end] < to) end++
  return end
}
