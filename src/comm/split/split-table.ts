import { bytesOf, wordsOf } from '../../base/bytes.js'
import { concatenateWords } from '../../base/packing.js'
import type { Exchange } from '../../calls/exchange/exchange.js'
import { allgatherBytes } from '../../calls/exchange/exchange-patterns.js'
import { SharedSlices } from '../table/distributed-table.js'
import { evenBounds, type SliceBounds } from '../table/slice-bounds.js'
import type { HostedSlice, TableId } from '../table/slice-service.js'
import type { ColumnOutcome } from './column-outcome.js'
import { exchangeSteps } from './process-group.js'
import type { Slice } from './sort/runs.js'
import { blockStart, columnsPerTable, type SorterLayout, shadowsOf } from './sorter-layout.js'
import type { SplitCall } from './split-call.js'

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
