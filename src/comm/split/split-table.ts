import { bytesOf, wordsOf } from '../../base/bytes.js'
import { concatenateWords, packWords, unpackWords } from '../../base/packing.js'
import { allgatherBytes, alltoallBytes, type Exchange } from '../../calls/exchange/exchange.js'
import { SharedSlices } from '../table/distributed-table.js'
import {
  evenBounds,
  givenBounds,
  type HostedSlice,
  type SliceBounds,
  type TableId,
} from '../table/slice-service.js'
import type { RowLocator } from './collect-rows.js'
import { exchangeSteps } from './process-group.js'
import {
  type ColorRun,
  encodeEnds,
  hostsIn,
  ItemWriter,
  joinEnds,
  RunTally,
  runEnds,
  runOf,
  type Slice,
  selfHosts,
  writeRows,
} from './runs.js'
import type { SplitCall } from './split-call.js'
import { blockStart, columnsPerTable, type SorterLayout, shadowsOf, sorterBlockOf } from './split-plan.js'

/** The table in which the members of irregular communicators look up ranks. */
export type SplitTable =
  | { readonly kind: 'none' }
  /** The world ranks of all rows, by position. */
  | { readonly kind: 'replicated'; readonly worldRanks: Int32Array }
  | { readonly kind: 'distributed'; readonly slices: SharedSlices }

/**
 * Makes the table of a split out of the sorters' slices (docs/split-algorithms.md#tables).
 *
 * @param column null for a shadow, which hosts nothing
 */
export async function tableOf(
  call: SplitCall,
  sorting: SorterLayout,
  outcome: ColumnOutcome,
  column: Exchange | null,
  slice: Slice | null,
): Promise<SplitTable> {
  const { exchange, plan, parent } = call
  const { bounds } = outcome
  if (!outcome.needsTable) return { kind: 'none' }
  if (plan.table === 'replicated')
    return { kind: 'replicated', worldRanks: await replicate(call, sorting, column, slice) }
  const { slices: service } = parent.runtime
  const { processes } = parent.processes
  const { id, layout, home } = placeOf(call, sorting, bounds)
  const hosted = slice === null ? undefined : await ownSlice(column!, layout, bounds, slice)
  if (hosted !== undefined) {
    call.meter.hold(hosted.worldRanks)
    service.host(id, hosted, home)
  }
  if (layout.home === exchange.me) keepHome(call, id, layout)
  const slices = new SharedSlices(
    service,
    {
      id,
      bounds: layout.bounds,
      server: (slice) => processes.at(layout.server(slice)),
      serverBytes: processes.sizeBytes,
      home,
      hosted,
    },
    plan.cacheRows,
  )
  return { kind: 'distributed', slices }
}

/**
 * Reports that a failed split does not use its table. A split has failed here before {@link tableOf}, but other
 * processes may have completed it. They host its slices until every process has reported that it does not use them. So
 * this process reports, and counts the others if it is the home. The plan alone determines these roles.
 *
 * If no rank needs a table, the home retains the count until the world ends: once per communicator, which has failed.
 */
export function abandonTable(call: SplitCall, sorting: SorterLayout): void {
  const { exchange, plan, parent } = call
  if (plan.table === 'replicated' || parent.runtime.ended !== undefined) return
  const { id, layout, home } = placeOf(call, sorting, evenBounds(0, sorting.sorters))
  if (layout.home === exchange.me) keepHome(call, id, layout)
  parent.runtime.slices.release(id, home)
}

function placeOf({ exchange, plan, parent }: SplitCall, sorting: SorterLayout, bounds: SliceBounds) {
  const { leader, counter } = parent.id
  const layout = tableLayout(sorting, bounds, plan.tableGroup, exchange.count)
  const home = parent.processes.processes.at(layout.home)
  return { id: { leader, counter, seq: exchange.seq | 0 }, layout, home }
}

function keepHome({ parent }: SplitCall, id: TableId, { users, hosts, host }: TableLayout): void {
  const { processes } = parent.processes
  parent.runtime.slices.keepHome(id, { users, hosts, host: (index) => processes.at(host(index)) })
}

/** Returns the slice that this process hosts: part of the slice that it sorted, or several sorters' slices joined. */
async function ownSlice(
  column: Exchange,
  { bounds, mine }: TableLayout,
  sorted: SliceBounds,
  { base, worldRanks }: Slice,
): Promise<HostedSlice | undefined> {
  if (bounds.slices >= sorted.slices) {
    if (mine < 0) return undefined
    const start = bounds.start(mine)
    return { start, worldRanks: worldRanks.slice(start - base, bounds.start(mine + 1) - base) }
  }
  // All processes know which one needs which rows, so no sizes are sent.
  const { me, count } = column
  const sliceAt = (sorter: number) => Math.floor((sorter * bounds.slices) / count)
  const overlap = (sorter: number, slice: number): [number, number] => [
    Math.max(sorted.start(sorter), bounds.start(slice)),
    Math.min(sorted.start(sorter + 1), bounds.start(slice + 1)),
  ]
  for (let peer = 0; peer < count; peer++) {
    const [from, to] = overlap(me, sliceAt(peer))
    if (peer !== me && from < to)
      column.send(peer, exchangeSteps.reslice, bytesOf(worldRanks.subarray(from - base, to - base)))
  }
  const start = bounds.start(mine)
  const rows = new Int32Array(bounds.start(mine + 1) - start)
  for (let peer = 0; peer < count; peer++) {
    const [from, to] = overlap(peer, mine)
    if (from >= to) continue
    const part =
      peer === me
        ? worldRanks.subarray(from - base, to - base)
        : wordsOf(await column.receive(peer, exchangeSteps.reslice))
    rows.set(part, from - start)
  }
  return { start, worldRanks: rows }
}

/** Brings all slices to every process of the column, and to its shadow. */
async function replicate(
  { exchange, meter }: SplitCall,
  layout: SorterLayout,
  column: Exchange | null,
  slice: Slice | null,
): Promise<Int32Array> {
  if (column === null) return wordsOf(await exchange.receive(exchange.me - 1, exchangeSteps.replicate + 63))
  const parts = (await allgatherBytes(column, bytesOf(slice!.worldRanks), exchangeSteps.replicate)).map(
    wordsOf,
  )
  const all = concatenateWords(parts)
  meter.hold(all)
  if (layout.shadow >= 0) exchange.send(layout.shadow, exchangeSteps.replicate + 63, bytesOf(all))
  return all
}

/**
 * The layout in which the slices of a column, or of several, become one distributed table
 * (docs/split-algorithms.md#tables). Process numbers are the parent's.
 */
interface TableLayout {
  readonly bounds: SliceBounds
  /**
   * Returns the process that this one asks for rows of a slice, in closed form, so that a table of many slices is
   * small.
   */
  server(slice: number): number
  /** The slice that this process hosts; -1 for none. */
  readonly mine: number
  readonly home: number
  readonly users: number
  readonly hosts: number
  /** Returns one of the hosts, by a number below `hosts`. */
  host(index: number): number
}

/**
 * @param sorted bounds of the slices that the sorters have
 * @param tableGroup P': processes that share one table
 */
function tableLayout(
  layout: SorterLayout,
  sorted: SliceBounds,
  tableGroup: number,
  processes: number,
): TableLayout {
  return tableGroup <= layout.sorters
    ? withinColumn(layout, sorted, tableGroup, processes)
    : acrossColumns(layout, sorted, tableGroup, processes)
}

/**
 * Lays out P' <= p slices: sorter k hosts slice floor(k P' / p), so a slice is hosted p / P' times; each process asks
 * one of these hosts.
 */
function withinColumn(
  layout: SorterLayout,
  sorted: SliceBounds,
  slices: number,
  processes: number,
): TableLayout {
  const { sorters, block, columns, column } = layout
  const host = (sorter: number) => blockStart(sorter, processes, sorters) + column
  return {
    bounds: slices === sorters ? sorted : evenBounds(sorted.rows, slices),
    server: (slice) => {
      const first = Math.ceil((slice * sorters) / slices)
      const count = Math.ceil(((slice + 1) * sorters) / slices) - first
      return host(first + (block % count))
    },
    mine: layout.isShadow ? -1 : Math.floor((block * slices) / sorters),
    home: host(0),
    users: sorters + (column === columns - 1 ? shadowsOf(processes, sorters) : 0),
    hosts: sorters,
    host,
  }
}

/**
 * Lays out P' > p slices: w neighboring columns each host 1/w of their sorters' slices; columns left over use the last
 * full group.
 */
function acrossColumns(
  layout: SorterLayout,
  sorted: SliceBounds,
  tableGroup: number,
  processes: number,
): TableLayout {
  const { sorters, columns, column, block } = layout
  const width = columnsPerTable(tableGroup, sorters, processes)
  const groups = Math.floor(columns / width)
  const group = Math.min(Math.floor(column / width), groups - 1)
  const firstColumn = group * width
  const isLast = group === groups - 1
  const slices = sorters * width
  const host = (slice: number) =>
    blockStart(Math.floor(slice / width), processes, sorters) + firstColumn + (slice % width)
  const hostsSlice = !layout.isShadow && column - firstColumn < width
  const userColumns = isLast ? columns - firstColumn : width
  return {
    bounds: sorted.subdivided(width),
    server: host,
    mine: hostsSlice ? block * width + column - firstColumn : -1,
    home: host(0),
    users: userColumns * sorters + (isLast ? shadowsOf(processes, sorters) : 0),
    hosts: slices,
    host,
  }
}

/** The facts that a process knows once the column has sorted. */
export interface ColumnOutcome {
  readonly bounds: SliceBounds
  /** Whether any rank needs the table; none does if every communicator is regular or receives its rows. */
  readonly needsTable: boolean
  /** The items of the ranks here (`itemsIn`), one message per slice, in their order. */
  readonly items: readonly Int32Array[]
}

/** The outcome if no rank chose a color. */
export const emptyOutcome: ColumnOutcome = { bounds: evenBounds(0, 1), needsTable: false, items: [] }

/**
 * Sends all processes of the column the new ranks of their ranks (docs/split-algorithms.md#new-ranks). First the
 * sorters learn which colors span slices, by one allgather of a few words per sorter; then each sorter sends to each
 * process.
 *
 * @param counters context counter of every process of the parent
 */
export async function distributeOutcome(
  call: SplitCall,
  layout: SorterLayout,
  column: Exchange,
  slice: Slice,
  bounds: SliceBounds,
  locator: RowLocator,
  counters: Int32Array,
): Promise<{ outcome: ColumnOutcome; ofShadow: ColumnOutcome }> {
  const writer = new OutcomeWriter(call, layout, slice, locator)
  const ends = await allgatherBytes(column, bytesOf(writer.ends()), exchangeSteps.ends)
  const needsTable = writer.join(ends.map(wordsOf), column.me)
  const messages = writer.messages(counters)
  const received = (await alltoallBytes(column, messages.map(bytesOf), exchangeSteps.items)).map(wordsOf)
  if (!isShadowed(call, layout))
    return { outcome: { bounds, needsTable, items: received }, ofShadow: emptyOutcome }
  // If blocks have shadows, a message has two parts: for the member, for its shadow.
  const parts = received.map((words) => unpackWords(bytesOf(words)))
  const items = (part: number) => parts.map((lists) => lists[part] ?? noWords)
  return {
    outcome: { bounds, needsTable, items: items(0) },
    ofShadow: { bounds, needsTable, items: items(1) },
  }
}

/** Writes the messages in which one sorter sends the outcome of its slice. */
class OutcomeWriter {
  readonly #call: SplitCall
  readonly #layout: SorterLayout
  readonly #slice: Slice
  readonly #locator: RowLocator
  readonly #processes: number
  readonly #ranksPerProcess: number
  readonly #tally: RunTally
  /** The index after the last row of every run, and the runs. */
  readonly #runEnds: Int32Array
  readonly #runs: ColorRun[]

  constructor(call: SplitCall, layout: SorterLayout, slice: Slice, locator: RowLocator) {
    this.#call = call
    this.#layout = layout
    this.#slice = slice
    this.#locator = locator
    this.#processes = call.exchange.count
    this.#ranksPerProcess = Math.ceil(call.parent.size / this.#processes)
    this.#tally = new RunTally(this.#processes)
    this.#runEnds = runEnds(slice)
    this.#runs = Array.from(this.#runEnds, (end, i) => runOf(slice, this.#from(i), end, this.#processes))
  }

  /** Returns what the other sorters need about the first and last run here. */
  ends(): Int32Array {
    const runs = this.#runs
    if (runs.length === 0) return noWords
    const needsTable = runs.some((run, i) => {
      if (run.isRegular) return false
      if (!this.#pushesRows(run)) return true
      this.#tally.count(this.#slice, this.#from(i), this.#runEnds[i])
      return this.#tally.touched.some((process) => !this.#keeps(run, i, process))
    })
    return encodeEnds(runs[0], runs[runs.length - 1], needsTable)
  }

  /** Takes in the ends of all slices. Returns whether any rank needs the table. */
  join(ends: readonly Int32Array[], me: number): boolean {
    const { lead, trail, spanning, needsTable } = joinEnds(ends, this.#processes)
    if (this.#runs.length > 0) {
      this.#runs[0] = lead[me]!
      this.#runs[this.#runs.length - 1] = trail[me]!
    }
    const { selfHostRows } = this.#call.plan
    const receivesRows = (run: ColorRun) =>
      this.#pushesRows(run) && selfHosts(sizeOf(run), 1, selfHostRows, this.#ranksPerProcess)
    return needsTable || spanning.some((run) => !run.isRegular && !receivesRows(run))
  }

  /**
   * Returns, for every block, the items of its member in this column and, in the last column, of the member's shadow.
   */
  messages(counters: Int32Array): Int32Array[] {
    const { sorters } = this.#layout
    const writers = Array.from({ length: 2 * sorters }, () => new ItemWriter())
    const writerOf = this.#writerOf(writers)
    this.#runs.forEach((run, i) => {
      const from = this.#from(i)
      const to = this.#runEnds[i]
      const counter = counters[this.#locator.process(run.first)]
      this.#tally.count(this.#slice, from, to)
      const keeping: ItemWriter[] = []
      for (const process of this.#recipientsOf(run, i)) {
        const writer = writerOf(process)
        if (writer === undefined) continue
        const keeps = this.#pushesRows(run) && this.#keeps(run, i, process)
        writer.begin(run, counter, this.#tally.rowsOf[process], keeps ? to - from : 0)
        if (keeps) keeping.push(writer)
      }
      writeRows(this.#slice, from, to, writerOf)
      for (const { list } of keeping) list.append(this.#slice.worldRanks.subarray(from, to))
    })
    if (!isShadowed(this.#call, this.#layout)) return writers.slice(0, sorters).map(({ list }) => list.view())
    return Array.from({ length: sorters }, (_, block) => {
      const lists = [writers[block], writers[sorters + block]].map(({ list }) => list.view())
      return wordsOf(packWords(lists))
    })
  }

  #from(run: number): number {
    return run === 0 ? 0 : this.#runEnds[run - 1]
  }

  /**
   * Tells whether members of a run that store its rows themselves are sent them. With a replicated table every process
   * has them.
   */
  #pushesRows(run: ColorRun): boolean {
    return !run.isRegular && this.#call.plan.table === 'distributed'
  }

  /**
   * Returns the receivers of run i: the processes with rows of it here and, if each stores all rows, those with rows in
   * other slices.
   */
  #recipientsOf(run: ColorRun, i: number): readonly number[] {
    const isSpanning = sizeOf(run) > this.#runEnds[i] - this.#from(i)
    const all = isSpanning && this.#pushesRows(run) && this.#keeps(run, i, 0)
    return all ? hostsIn(run.hosts, this.#processes) : this.#tally.touched
  }

  #keeps(run: ColorRun, i: number, process: number): boolean {
    const isWhole = sizeOf(run) === this.#runEnds[i] - this.#from(i)
    // The number of rows that a process has of a run over several slices is not known here, but it has at least one.
    const own = isWhole ? this.#tally.rowsOf[process] : 1
    return selfHosts(sizeOf(run), own, this.#call.plan.selfHostRows, this.#ranksPerProcess)
  }

  #writerOf(writers: readonly ItemWriter[]): (process: number) => ItemWriter | undefined {
    const { sorters, columns, column } = this.#layout
    const index = Int32Array.from({ length: this.#processes }, (_, process) => {
      const block = sorterBlockOf(process, this.#processes, sorters)
      const place = process - blockStart(block, this.#processes, sorters)
      if (place === column) return block
      return place === columns && column === columns - 1 ? sorters + block : -1
    })
    return (process) => writers[index[process]]
  }
}

function isShadowed(call: SplitCall, { column, columns, sorters }: SorterLayout): boolean {
  return column === columns - 1 && shadowsOf(call.exchange.count, sorters) > 0
}

function sizeOf({ start, end }: ColorRun): number {
  return end - start
}

const noWords = new Int32Array(0)

export function sendOutcome(
  exchange: Exchange,
  peer: number,
  step: number,
  { bounds, needsTable, items }: ColumnOutcome,
): void {
  const starts =
    bounds.sizeBytes === 0 ? [] : Array.from({ length: bounds.slices + 1 }, (_, i) => bounds.start(i))
  const head = Int32Array.of(bounds.rows, bounds.slices, needsTable ? 1 : 0)
  exchange.send(peer, step, packWords([head, Int32Array.from(starts), ...items]))
}

export async function receiveOutcome(exchange: Exchange, peer: number, step: number): Promise<ColumnOutcome> {
  const [head, starts, ...items] = unpackWords(await exchange.receive(peer, step)) as [
    Int32Array,
    Int32Array,
    ...Int32Array[],
  ]
  const [rows, slices, needsTable] = head as unknown as [number, number, number]
  const bounds = starts.length === 0 ? evenBounds(rows, slices) : givenBounds(Float64Array.from(starts))
  return { bounds, needsTable: needsTable === 1, items }
}
