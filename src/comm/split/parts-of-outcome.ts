import { indexIn } from '../../base/search.js'

import { processOf } from '../../messages/process/world-layout.js'
import { DistributedTable } from '../table/distributed-table.js'
import { ProcessList } from '../table/process-list.js'
import { rankTable, stridedTable } from '../table/rank-table.js'
import type { ColumnOutcome } from './column-outcome.js'
import { type Item, itemsIn } from './sort/items.js'
import { hostsIn } from './sort/runs.js'
import type { SplitCall, SplitPart } from './split-call.js'
import type { SplitTable } from './split-table.js'

/** The items of one new communicator with ranks here, from one or several slices. */
interface Gathered {
  readonly about: Item
  readonly items: Item[]
  hosted: number
}

export function partsOfOutcome(
  call: SplitCall,
  outcome: ColumnOutcome,
  table: SplitTable,
): readonly SplitPart[] {
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
