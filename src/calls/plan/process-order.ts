import { concatenate } from '../../base/packing.js'
import type { CommContext, CommProcesses } from '../../messages/process/comm-context.js'

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
