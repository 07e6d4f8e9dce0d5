import { concatenate } from '../../base/packing.js'
import { indexIn, rangeAt } from '../../base/search.js'
import type { CommContext, CommProcesses } from '../../messages/process/comm-context.js'

// These functions find which process hosts a rank, and convert between lists by process and lists by rank.

export function processOfRank({ runStart, runProcess }: CommProcesses, rank: number): number {
  return runProcess[rangeAt(runStart, rank)]
}

/** Returns the local index of a rank hosted here; -1 for other ranks. */
export function localIndexOf(state: CommContext, rank: number): number {
  return indexIn(state.localRanks, rank)
}

/** Returns one list in rank order from a list per process, each in rank order. */
export function byRank<T>(table: CommProcesses, perProcess: readonly (readonly T[])[]): T[] {
  const taken = new Int32Array(table.count)
  const items: T[] = []
  for (let run = 0; run < table.runProcess.length; run++) {
    const process = table.runProcess[run]
    const count = table.runStart[run + 1] - table.runStart[run]
    for (let i = 0; i < count; i++) items.push(perProcess[process][taken[process]++]!)
  }
  return items
}

/** Returns a list per process from one in rank order: the inverse of {@link byRank}. */
export function byProcess<T>(table: CommProcesses, items: readonly T[]): T[][] {
  const lists: T[][] = Array.from({ length: table.count }, () => [])
  for (let run = 0; run < table.runProcess.length; run++) {
    const list = lists[table.runProcess[run]]
    for (let rank = table.runStart[run]; rank < table.runStart[run + 1]; rank++) list.push(items[rank]!)
  }
  return lists
}

export function ranksPerProcess(table: CommProcesses): Int32Array {
  const counts = new Int32Array(table.count)
  for (let run = 0; run < table.runProcess.length; run++) {
    counts[table.runProcess[run]] += table.runStart[run + 1] - table.runStart[run]
  }
  return counts
}

/** Returns the ranks that each process hosts, ascending. */
export function ranksByProcess({ size, processes }: CommContext): number[][] {
  return byProcess(
    processes,
    Array.from({ length: size }, (_, rank) => rank),
  )
}

/** Returns the items `first`, `first + step`, ... */
export function everyNth<T>(items: readonly T[], first: number, step: number): T[] {
  const picked: T[] = []
  for (let i = first; i < items.length; i += step) picked.push(items[i]!)
  return picked
}

/**
 * The result of a gather: `data` holds the blocks of all ranks in rank order; block r has `counts[r]` elements from
 * `displs[r]`.
 */
export interface Gathered<T = unknown> {
  readonly data: T
  readonly counts: Int32Array
  readonly displs: Int32Array
}

// These functions lay out the blocks of all ranks next to each other, process by process and within one by rank.

/** Tells whether that is rank order: every process hosts one run, in the order of the processes. */
export function isRankOrder({ runProcess }: CommProcesses): boolean {
  return runProcess.every((process, run) => process === run)
}

export function sumsByProcess(
  { runStart, runProcess, count }: CommProcesses,
  sizes: ArrayLike<number>,
): Float64Array {
  const sums = new Float64Array(count)
  runProcess.forEach((process, run) => {
    for (let rank = runStart[run]; rank < runStart[run + 1]; rank++) sums[process] += sizes[rank]
  })
  return sums
}

/**
 * Returns the blocks by rank, as views.
 *
 * @param sizes by rank
 */
export function blocksInRankOrder(
  { processes }: CommContext,
  joined: Uint8Array,
  sizes: ArrayLike<number>,
): Uint8Array[] {
  const { runStart, runProcess, count } = processes
  const at = new Float64Array(count)
  const sums = sumsByProcess(processes, sizes)
  for (let process = 1; process < count; process++) at[process] = at[process - 1] + sums[process - 1]
  const blocks: Uint8Array[] = []
  runProcess.forEach((process, run) => {
    for (let rank = runStart[run]; rank < runStart[run + 1]; rank++) {
      blocks.push(joined.subarray(at[process], at[process] + sizes[rank]))
      at[process] += sizes[rank]
    }
  })
  return blocks
}

/** Returns the bytes of one block, or a copy of several next to each other. */
export function joinedBlocks(blocks: readonly Uint8Array[]): Uint8Array {
  return blocks.length === 1 ? blocks[0] : concatenate(blocks)
}
