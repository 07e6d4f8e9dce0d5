import { indexIn } from '../../base/search.js'
import type { CommTable } from '../table/distributed-table.js'
import { rankTable } from '../table/rank-table.js'
import { collectRows, localRows, RowLocator } from './collect-rows.js'
import { exchangeSteps } from './process-group.js'
import { rowWord, type SplitRows } from './rows.js'
import type { AwaitingAlgorithm, SplitCall, SplitPart } from './split-call.js'

/**
 * Splits by merging: every process gets all rows, merged stage by stage as they arrive. That takes O(n) time and
 * memory, without the final sort of the conventional split (docs/split-algorithms.md#conventional-and-merging).
 */
export const splitByMerging: AwaitingAlgorithm = async (call) => {
  const { parent, exchange, meter } = call
  const locator = new RowLocator(parent)
  meter.enter('collect')
  const own = localRows(call, locator.width)
  const counter = parent.runtime.drawCounter()
  const all = await collectRows(
    exchange,
    own,
    counter,
    locator,
    (process) => process,
    meter,
    exchangeSteps.collect,
  )
  meter.enter('ranks')
  return partsOfRows(call, all.rows, locator, all.counters)
}

/** Returns the communicators with ranks here, on a process that has the whole sorted table. */
function partsOfRows(
  { parent }: SplitCall,
  rows: SplitRows,
  locator: RowLocator,
  counters: Int32Array,
): readonly SplitPart[] {
  const { words, width } = rows
  const count = words.length / width
  const { localRanks } = parent
  const parts: SplitPart[] = []
  for (let from = 0, to = 0; from < count; from = to) {
    const color = words[from * width]
    const hosted: number[] = []
    for (to = from; to < count && words[to * width] === color; to++) {
      const index = indexIn(localRanks, words[to * width + rowWord.rank])
      if (index >= 0) hosted.push(index)
    }
    if (hosted.length === 0) continue
    const worldRanks = new Int32Array(to - from)
    for (let row = from; row < to; row++) worldRanks[row - from] = locator.worldRank(rows, row * width)
    const leader = worldRanks[0]
    const table: CommTable = rankTable(worldRanks)
    parts.push({
      id: { leader, counter: counters[locator.process(leader)] },
      table,
      hosted: Int32Array.from(hosted),
    })
  }
  return parts
}
