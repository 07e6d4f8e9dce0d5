import type { Schedule } from '../schedule/ir.js'

/** The operations of one rank, in the order of its schedule. Columns of equal length. */
export interface RankView {
  readonly rank: number
  readonly phase: readonly number[]
  /** The index in {@link operationWords}. */
  readonly kind: readonly number[]
  /** The destination of a send, the source of a receive, -1 otherwise. */
  readonly peer: readonly number[]
  readonly tag: readonly number[]
  /**
   * The last phase whose messages an operation waits for, -1 if it waits for its data only; null if no operation waits.
   */
  readonly after: readonly number[] | null
  /** The number of blocks that each operation moves. */
  readonly blocks: readonly number[]
  /** The first {@link mostBlocks} blocks of each operation; a partial result is negative. */
  readonly block: readonly (readonly number[])[]
  /** The number of operations beyond {@link mostOperations}, which are not listed. */
  readonly leftOut: number
}

/** The names of operations, indexed by `opKind`. */
export const operationWords = ['send', 'receive', 'copy', 'combine'] as const
const mostOperations = 1000
const mostBlocks = 8

/** @param rank below the ranks of the schedule */
export function rankView(schedule: Schedule, rank: number): RankView {
  const { opStart, opPhase, opKind: kinds, opPeer, opTag, opAfter, entryStart, entryBlock } = schedule
  const first = opStart[rank]
  const end = Math.min(opStart[rank + 1], first + mostOperations)
  const lengths = Array.from(
    { length: end - first },
    (_, i) => entryStart[first + i + 1] - entryStart[first + i],
  )
  const after = [...opAfter.subarray(first, end)]
  return {
    rank,
    phase: [...opPhase.subarray(first, end)],
    kind: [...kinds.subarray(first, end)],
    peer: [...opPeer.subarray(first, end)],
    tag: [...opTag.subarray(first, end)],
    after: after.every((phase) => phase === -1) ? null : after,
    blocks: lengths,
    block: lengths.map((length, i) => [
      ...entryBlock.subarray(entryStart[first + i], entryStart[first + i] + Math.min(length, mostBlocks)),
    ]),
    leftOut: opStart[rank + 1] - end,
  }
}
