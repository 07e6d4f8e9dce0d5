import { bytesOf, wordsOf } from '../../base/bytes.js'
import { indexIn } from '../../base/search.js'
import { allgatherBytes, allSent, alltoallBytes, type Exchange } from '../../calls/exchange/exchange.js'
import { processOf } from '../../messages/process/world-layout.js'
import { DistributedTable } from '../table/distributed-table.js'
import { ProcessList } from '../table/process-table.js'
import { rankTable, stridedTable } from '../table/rank-table.js'
import type { SliceBounds } from '../table/slice-service.js'
import { type Collected, collectRows, localRows, RowLocator } from './collect-rows.js'
import { exactCuts } from './exact-cuts.js'
import { exchangeSteps, subgroup } from './process-group.js'
import { rowsBetween, type SplitRows } from './rows.js'
import { hostsIn, type Item, itemsIn, type Slice } from './runs.js'
import { scratchBytes, sortRuns } from './sort-runs.js'
import type { AwaitingAlgorithm, SplitCall, SplitMeter, SplitPart } from './split-call.js'
import { type SorterLayout, sorterLayout } from './split-plan.js'
import {
  abandonTable,
  type ColumnOutcome,
  distributeOutcome,
  emptyOutcome,
  receiveOutcome,
  type SplitTable,
  sendOutcome,
  tableOf,
} from './split-table.js'

interface SortedSlice {
  readonly rows: SplitRows
  /** The places where the slices of all sorters begin in the whole table. */
  readonly bounds: SliceBounds
}

/** Turns the sorted lists of a column's sorters, of `total` rows together (at least one), into slices. */
type SortColumn = (
  column: Exchange,
  lists: SplitRows,
  total: number,
  meter: SplitMeter,
) => Promise<SortedSlice>

/**
 * Splits by parallel sort (Sack 2011, chapter 2). The processes of a block merge their rows. The sorters of a column
 * cut theirs at the same splitters, exchange, and merge. Each then holds one slice of the sorted table, and sends the
 * processes of its column their new ranks. O(p lg n + lg^2 n + (n/p) lg p) time, n/p rows per process.
 */
export const splitByParallelSort: AwaitingAlgorithm = (call) =>
  splitBySorting(call, async (column, rows, total, meter) => {
    const { cuts, bounds } = await exactCuts(column, rows, total)
    return { rows: await exchangeAndMerge(column, rows, cuts, meter), bounds }
  })

/**
 * @param lists order of the rows of one process before they are collected; `sort` gets them in any order if that is all
 *   it needs
 */
export async function splitBySorting(
  call: SplitCall,
  sort: SortColumn,
  lists: 'sorted' | 'any order' = 'sorted',
): Promise<readonly SplitPart[]> {
  const { exchange, plan } = call
  const layout = sorterLayout(exchange.me, exchange.count, plan.sorters)
  try {
    return await sortIn(call, layout, sort, lists)
  } catch (error) {
    abandonTable(call, layout)
    throw error
  }
}

async function sortIn(
  call: SplitCall,
  layout: SorterLayout,
  sort: SortColumn,
  lists: 'sorted' | 'any order',
): Promise<readonly SplitPart[]> {
  const { parent, exchange, meter } = call
  const locator = new RowLocator(parent)
  const counter = parent.runtime.drawCounter()

  meter.enter('collect')
  const own = localRows(call, locator.width, lists === 'sorted')
  const collected = await collectRows(
    subgroup(exchange, blockMembers(layout)),
    own,
    counter,
    locator,
    (process) => process - layout.blockStart,
    meter,
    exchangeSteps.collect,
  )
  if (layout.isShadow) {
    meter.enter('ranks')
    meter.hold(null, collected.rows.words)
    const outcome = await receiveOutcome(exchange, exchange.me - 1, exchangeSteps.shadow)
    return partsOfOutcome(call, outcome, await tableOf(call, layout, outcome, null, null))
  }

  const column = subgroup(exchange, layout.members)
  const { outcome, ofShadow, slice } = await sortInColumn(call, layout, column, collected, locator, sort)
  if (layout.shadow >= 0) sendOutcome(exchange, layout.shadow, exchangeSteps.shadow, ofShadow)
  meter.enter('table')
  return partsOfOutcome(call, outcome, await tableOf(call, layout, outcome, column, slice))
}

async function sortInColumn(
  call: SplitCall,
  layout: SorterLayout,
  column: Exchange,
  collected: Collected,
  locator: RowLocator,
  sort: SortColumn,
): Promise<{ outcome: ColumnOutcome; ofShadow: ColumnOutcome; slice: Slice | null }> {
  const { meter } = call
  meter.enter('splitters')
  const { total, counters } = await agreeOnTotal(column, collected)
  if (total === 0) {
    meter.hold(null, collected.rows.words)
    return { outcome: emptyOutcome, ofShadow: emptyOutcome, slice: null }
  }
  const { rows, bounds } = await sort(column, collected.rows, total, meter)
  meter.enter('ranks')
  const slice = sliceOf(bounds.start(column.me), rows, locator)
  meter.hold(slice.worldRanks)
  meter.hold(slice.processes)
  const distributed = await distributeOutcome(call, layout, column, slice, bounds, locator, counters)
  meter.hold(null, slice.processes)
  return { ...distributed, slice }
}

/** Agrees on the number of rows of all lists, and on the context counters of all processes, block by block. */
async function agreeOnTotal(
  column: Exchange,
  { rows, counters }: Collected,
): Promise<{ total: number; counters: Int32Array }> {
  const mine = new Int32Array(1 + counters.length)
  mine[0] = rows.words.length / rows.width
  mine.set(counters, 1)
  const all = (await allgatherBytes(column, bytesOf(mine), exchangeSteps.agree)).map(wordsOf)
  return {
    total: all.reduce((sum, words) => sum + words[0], 0),
    counters: Int32Array.from(all.flatMap((words) => [...words.subarray(1)])),
  }
}

/** Returns this sorter's slice of every list, merged in the order of the sorters. */
async function exchangeAndMerge(
  column: Exchange,
  rows: SplitRows,
  cuts: Int32Array,
  meter: SplitMeter,
): Promise<SplitRows> {
  const { width } = rows
  meter.enter('exchange')
  const blocks = Array.from({ length: column.count }, (_, k) =>
    bytesOf(rowsBetween(rows, cuts[k], cuts[k + 1])),
  )
  const received = (await alltoallBytes(column, blocks, exchangeSteps.exchange)).map(wordsOf)
  for (const run of received) if (run !== received[column.me]) meter.hold(run)
  const bounds = [0]
  for (const run of received) bounds.push(bounds[bounds.length - 1] + run.length)
  const length = bounds[bounds.length - 1]
  // The memory of the own list is reused for the slice once the list has been sent. At most twice the slice is held at
  // any time.
  await allSent(column)
  received[column.me] = received[column.me].slice()
  const words = rows.words.length >= length ? rows.words.subarray(0, length) : new Int32Array(length)
  if (words.buffer !== rows.words.buffer) meter.hold(words, rows.words)
  for (let k = 0; k < received.length; k++) {
    words.set(received[k], bounds[k])
    if (k !== column.me) meter.hold(null, received[k])
    received[k] = nothing
  }
  meter.enter('merge')
  const spare = new Int32Array(column.count > 1 ? length : 0)
  meter.hold(spare)
  const scratch = { byteLength: scratchBytes(length / width) }
  meter.hold(scratch)
  const sorted = sortRuns(width, words, bounds, spare)
  meter.hold(null, spare, scratch)
  return { words: sorted, width }
}

const nothing = new Int32Array(0)

function sliceOf(base: number, rows: SplitRows, locator: RowLocator): Slice {
  const count = rows.words.length / rows.width
  const worldRanks = new Int32Array(count)
  const processes = new Int32Array(count)
  for (let row = 0; row < count; row++) {
    const worldRank = locator.worldRank(rows, row * rows.width)
    worldRanks[row] = worldRank
    processes[row] = locator.process(worldRank)
  }
  return { base, rows, worldRanks, processes }
}

function blockMembers({ blockStart, blockEnd }: SorterLayout): Int32Array {
  return Int32Array.from({ length: blockEnd - blockStart }, (_, i) => blockStart + i)
}

/** The items of one new communicator with ranks here, from one or several slices. */
interface Gathered {
  readonly about: Item
  readonly items: Item[]
  hosted: number
}

function partsOfOutcome(call: SplitCall, outcome: ColumnOutcome, table: SplitTable): readonly SplitPart[] {
  const byStart = new Map<number, Gathered>()
  for (const words of outcome.items) {
    for (const item of itemsIn(words, call.exchange.count)) {
      let gathered = byStart.get(item.start)
      if (gathered === undefined) {
        gathered = { about: item, items: [], hosted: 0 }
        byStart.set(item.start, gathered)
      }
      gathered.items.push(item)
      gathered.hosted += item.rows.length / 2
    }
  }
  const parts = [...byStart.values()].map((gathered) => partOf(call, gathered, table))
  if (table.kind === 'distributed') {
    // Communicators retain the table when they are made; if none does, it is released.
    const uses = parts.some((part) => part.table.kind === 'distributed')
    if (!uses) table.slices.settle()
  }
  return parts
}

function partOf({ parent, exchange }: SplitCall, gathered: Gathered, table: SplitTable): SplitPart {
  const { start, size, first, leaderCounter, isRegular, stride, hosts } = gathered.about
  const hosted = new Int32Array(gathered.hosted)
  const ranks = new Int32Array(gathered.hosted)
  let at = 0
  // Slices are in order, and so are their rows: new ranks ascend.
  for (const { rows } of gathered.items) {
    for (let i = 0; i < rows.length; i += 2) {
      hosted[at] = indexIn(parent.localRanks, rows[i])
      ranks[at++] = rows[i + 1] - start
    }
  }
  const id = { leader: first, counter: leaderCounter }
  if (isRegular) return { id, hosted, table: stridedTable(size, first, stride) }
  if (table.kind === 'replicated')
    return { id, hosted, table: rankTable(table.worldRanks.slice(start, start + size)) }
  // A process may store the rows of a communicator while another looks them up; both number its processes the same.
  const leader = processOf(parent.runtime.layout, first)
  const members = hostsIn(hosts, exchange.count).map((process) => parent.processes.processes.at(process))
  const others = members.filter((process) => process !== leader)
  const processes = new ProcessList(Int32Array.from([leader, ...others]))
  if (gathered.about.pushed.length > 0)
    return { id, hosted, table: rankTable(joined(size, gathered.items)), processes }
  if (table.kind === 'none') throw new Error('a communicator without a table')
  const worldRanks = new Int32Array(hosted.length)
  for (let i = 0; i < hosted.length; i++) worldRanks[i] = parent.worldRank(hosted[i])
  return { id, hosted, table: new DistributedTable(table.slices, start, size, ranks, worldRanks), processes }
}

function joined(size: number, items: readonly Item[]): Int32Array {
  const worldRanks = new Int32Array(size)
  let at = 0
  for (const { pushed } of items) {
    worldRanks.set(pushed, at)
    at += pushed.length
  }
  return worldRanks
}
