import { AscendingSet } from '../../base/ascending-set.js'
import type { CommContext, CommProcesses, RankRuns } from '../../messages/process/comm-context.js'
import { processOf, type WorldLayout } from '../../messages/process/world-layout.js'
import type { CommTable } from './distributed-table.js'
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

/**
 * The world processes of a communicator by index, in the smallest of three forms: an arithmetic progression, O(1); an
 * ascending set with one of its processes moved to the front, a few bits per process; or a list. A process retains the
 * whole list, not only its own partners. It has to know whether a lost process hosts ranks of the communicator.
 */
export class ProcessList {
  readonly count: number
  readonly #start: number
  readonly #stride: number
  /** The position, in ascending order, of the process with index 0; 0 if the order is that of the indices. */
  readonly #first: number
  readonly #set: AscendingSet | undefined
  readonly #listed: Int32Array | undefined
  /** The indices of the listed processes, in ascending order of these; made by the first search. */
  #order: Int32Array | undefined

  /** @param processes distinct; retained if no other form is smaller */
  constructor(processes: Int32Array) {
    const count = processes.length
    const first = placeOfFirst(processes)
    const ascending = first > 0 ? movedBack(processes, first) : processes
    this.count = count
    this.#start = ascending[0] ?? 0
    this.#stride = count > 1 ? ascending[1] - ascending[0] : 1
    this.#first = first > 0 ? first : 0
    if (isProgression(ascending, this.#stride)) return
    const set = first >= 0 ? new AscendingSet(ascending) : undefined
    if (set !== undefined && set.sizeBytes < processes.byteLength) this.#set = set
    else this.#listed = processes
  }

  get sizeBytes(): number {
    return (this.#set?.sizeBytes ?? 0) + (this.#listed?.byteLength ?? 0) + (this.#order?.byteLength ?? 0)
  }

  /** Returns the world process with an index below `count`. */
  at(index: number): number {
    const listed = this.#listed
    if (listed !== undefined) return listed[index]
    const position = index > this.#first ? index : index === 0 ? this.#first : index - 1
    const set = this.#set
    return set === undefined ? this.#start + position * this.#stride : set.at(position)
  }

  indexOf(process: number): number {
    if (this.#listed !== undefined) return this.#indexListed(this.#listed, process)
    let position: number
    if (this.#set !== undefined) {
      position = this.#set.indexOf(process)
      if (position < 0) return -1
    } else {
      position = (process - this.#start) / this.#stride
      if (!(position >= 0 && position < this.count) || position !== Math.floor(position)) return -1
    }
    return position > this.#first ? position : position === this.#first ? 0 : position + 1
  }

  includes(process: number): boolean {
    return this.indexOf(process) >= 0
  }

  *[Symbol.iterator](): Generator<number> {
    for (let index = 0; index < this.count; index++) yield this.at(index)
  }

  #indexListed(listed: Int32Array, process: number): number {
    if (listed[process] === process) return process
    this.#order ??= Int32Array.from(listed, (_, index) => index).sort((a, b) => listed[a] - listed[b])
    const order = this.#order
    let low = 0
    let high = order.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (listed[order[middle]] < process) low = middle + 1
      else high = middle
    }
    return low < order.length && listed[order[low]] === process ? order[low] : -1
  }
}

/** Returns the place that the first of these would have if they were sorted; -1 if the others do not ascend. */
function placeOfFirst(processes: Int32Array): number {
  let place = 0
  for (let index = 1; index < processes.length; index++) {
    if (index > 1 && processes[index] < processes[index - 1]) return -1
    if (processes[index] < processes[0]) place = index
  }
  return place
}

/** Returns the processes with the first moved back to `place`. */
function movedBack(processes: Int32Array, place: number): Int32Array {
  const ascending = processes.slice()
  ascending.copyWithin(0, 1, place + 1)
  ascending[place] = processes[0]
  return ascending
}

function isProgression(processes: Int32Array, stride: number): boolean {
  for (let index = 1; index < processes.length; index++) {
    if (processes[index] - processes[index - 1] !== stride) return false
  }
  return true
}

/** A communicator in one process with its tables, as splits and survivors see it. */
export interface TableContext extends CommContext {
  readonly table: CommTable
  readonly processes: ProcessTable
  readonly wholeTable: LocalRankTable

  place(): Promise<LocalRankTable>
}
