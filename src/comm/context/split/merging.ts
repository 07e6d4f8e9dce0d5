import type { AwaitingAlgorithm } from './algorithm.js'
import { collect } from './collect.js'
import { steps } from './exchange-steps.js'
import { localRows } from './local-rows.js'
import { Owners } from './owners.js'
import { partsOfAll } from './sorted-groups.js'

/**
 * Every process gets the rows of all, merged stage by stage as they come: O(n) time and memory, without the final sort
 * of the conventional split (docs/split-algorithms.md#conventional-and-merging).
 */
export const splitByMerging: AwaitingAlgorithm = async (call) => {
  const { parent, exchange, meter } = call
  const owners = new Owners(parent)
  meter.enter('collect')
  const own = localRows(call, owners.width)
  const counter = parent.runtime.drawCounter()
  const all = await collect(exchange, own, counter, owners, (process) => process, meter, steps.collect)
  meter.enter('ranks')
  return partsOfAll(call, all.rows, owners, all.counters)
}
