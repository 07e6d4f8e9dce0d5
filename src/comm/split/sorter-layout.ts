/**
 * The processes that sort together (docs/split-algorithms.md#sorters-and-columns), for any number n of processes and 1
 * <= p <= n sorters. Block b holds the processes [floor(b n / p), floor((b + 1) n / p)), q or q + 1 of them. Column j
 * holds the j-th member of every block: its p members sort together, and the q columns perform the same sort
 * redundantly. A (q+1)-th member is the **shadow** of the one before it: it contributes its rows to its block and is
 * sent the result.
 */
export interface SorterLayout {
  readonly sorters: number
  readonly columns: number
  readonly block: number
  /** The processes of this process's block: `blockStart` to `blockEnd - 1`. */
  readonly blockStart: number
  readonly blockEnd: number
  /** The column of this process; a shadow has the column of the process before it. */
  readonly column: number
  readonly isShadow: boolean
  /** The processes of the column, by block. */
  readonly members: Int32Array
  /** The next process if it is this one's shadow, otherwise -1. */
  readonly shadow: number
}

export function blockStart(block: number, processes: number, sorters: number): number {
  return Math.floor((block * processes) / sorters)
}

export function sorterBlockOf(process: number, processes: number, sorters: number): number {
  return Math.floor(((process + 1) * sorters - 1) / processes)
}

export function sorterLayout(me: number, processes: number, sorters: number): SorterLayout {
  const columns = Math.floor(processes / sorters)
  const block = sorterBlockOf(me, processes, sorters)
  const start = blockStart(block, processes, sorters)
  const end = blockStart(block + 1, processes, sorters)
  const isShadow = me - start === columns
  const column = isShadow ? columns - 1 : me - start
  const members = columnMembers(column, processes, sorters)
  const shadow = !isShadow && column === columns - 1 && me + 1 < end ? me + 1 : -1
  return { sorters, columns, block, blockStart: start, blockEnd: end, column, isShadow, members, shadow }
}

/** Returns the process of column `column` in every block. */
function columnMembers(column: number, processes: number, sorters: number): Int32Array {
  return Int32Array.from({ length: sorters }, (_, b) => blockStart(b, processes, sorters) + column)
}

/** Counts the shadows of the last column: blocks with one process more than there are columns. */
export function shadowsOf(processes: number, sorters: number): number {
  return processes - sorters * Math.floor(processes / sorters)
}

/**
 * Returns the number of columns whose sorters share one distributed table of about `tableGroup` slices, if those are
 * more than sorters.
 */
export function columnsPerTable(tableGroup: number, sorters: number, processes: number): number {
  return Math.min(Math.ceil(tableGroup / sorters), Math.floor(processes / sorters))
}

/**
 * Returns the number of slices of a distributed table: P', or, beyond the number of sorters, the next multiple of it
 * that processes have.
 */
export function sliceCount(tableGroup: number, sorters: number, processes: number): number {
  return tableGroup <= sorters ? tableGroup : sorters * columnsPerTable(tableGroup, sorters, processes)
}
