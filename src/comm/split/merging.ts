import { collectRows } from './collect-rows.js'
import { localRows } from './local-rows.js'
import { partsOfRows } from './parts-of-rows.js'
import { exchangeSteps } from './process-group.js'
import { RowLocator } from './row-locator.js'
import type { AwaitingAlgorithm } from './split-call.js'

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
