import { bytesOf, wordsOf } from '../../base/bytes.js'
import { concatenateWords } from '../../base/packing.js'
import type { Exchange } from '../../calls/exchange.js'
import { allgatherBytes } from '../../calls/exchange-patterns.js'
import { SharedSlices } from '../table/distributed-table.js'
import { evenBounds, type SliceBounds } from '../table/slice-bounds.js'
import type { HostedSlice, TableId } from '../table/slice-service.js'
import type { ColumnOutcome } from './column-outcome.js'
import { exchangeSteps } from './process-group.js'
import type { Slice } from './sort/runs.js'
import type { SorterLayout } from './sorter-layout.js'
import type { SplitCall } from './split-call.js'
import { type TableLayout, tableLayout } from './table-layout.js'

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
