import type { CommProcesses } from '../../messages/process/comm-context.js'

// These functions lay out blocks of one length between the ranks of process `me` and those of all others, side by side.
// The order is by process, then by the rank there or here that sends, then by the one that receives.

/** Writes the blocks that the i-th of `here` ranks has for all ranks elsewhere, by rank. */
export function spreadPairs(
  processes: CommProcesses,
  sent: Uint8Array,
  pairs: Uint8Array,
  me: number,
  i: number,
  here: number,
  sizeBytes: number,
): void {
  const { runStart, runProcess } = processes
  const { first, count } = ranksOf(processes, me)
  const taken = new Int32Array(processes.count)
  for (let run = 0; run < runProcess.length; run++) {
    const process = runProcess[run]
    if (process === me) continue
    const [from, to] = [runStart[run], runStart[run + 1]]
    const at = here * first[process] + i * count[process] + taken[process]
    pairs.set(sent.subarray(from * sizeBytes, to * sizeBytes), at * sizeBytes)
    taken[process] += to - from
  }
}

/** Writes the blocks that all ranks elsewhere have for the i-th of `here` ranks, by rank. */
export function gatherPairs(
  processes: CommProcesses,
  pairs: Uint8Array,
  received: Uint8Array,
  me: number,
  i: number,
  here: number,
  sizeBytes: number,
): void {
  const { runStart, runProcess } = processes
  const { first } = ranksOf(processes, me)
  const taken = new Int32Array(processes.count)
  for (let run = 0; run < runProcess.length; run++) {
    const process = runProcess[run]
    if (process === me) continue
    for (let rank = runStart[run]; rank < runStart[run + 1]; rank++) {
      const from = (here * (first[process] + taken[process]++) + i) * sizeBytes
      const at = rank * sizeBytes
      if (sizeBytes > mostLoopedBytes) received.set(pairs.subarray(from, from + sizeBytes), at)
      else for (let byte = 0; byte < sizeBytes; byte++) received[at + byte] = pairs[from + byte]
    }
  }
}

/** The largest number of bytes for which a loop is faster than a call. */
const mostLoopedBytes = 32

/** Returns for every process its number of ranks, and that of the processes before it, without `me`. */
function ranksOf({ runStart, runProcess, count: processes }: CommProcesses, me: number) {
  const first = new Int32Array(processes)
  const count = new Int32Array(processes)
  for (let run = 0; run < runProcess.length; run++) {
    count[runProcess[run]] += runStart[run + 1] - runStart[run]
  }
  for (let process = 1; process < processes; process++) {
    first[process] = first[process - 1] + (process - 1 === me ? 0 : count[process - 1])
  }
  return { first, count }
}
