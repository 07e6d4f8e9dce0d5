import { processOf } from '../../messages/process/world-layout.js'
import type { TableContext } from '../table/table-context.js'

/** Ranks of a communicator whose processes are known as lost here, ascending. */
export async function lostRanks(state: TableContext): Promise<Int32Array> {
  if (state.losses.processes.length === 0) return new Int32Array(0)
  const table = await state.place()
  const lost = new Set(state.losses.processes)
  const ranks: number[] = []
  for (let rank = 0; rank < table.size; rank = state.processes.endOfRun(rank)) {
    if (!lost.has(processOf(state.runtime.layout, table.lookup(rank)))) continue
    const end = state.processes.endOfRun(rank)
    for (let each = rank; each < end; each++) ranks.push(each)
  }
  return Int32Array.from(ranks)
}
