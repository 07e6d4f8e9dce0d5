import type { CombinationOrder } from '../../../../collective/algorithm.js'
import type { Collective } from '../../../../schedule/specification.js'

/** What all ranks of a call know before it; of a bcast or scatter, all ranks of the root's process. */
export interface CallFacts {
  readonly collective: Collective
  /** Processes that host ranks of the communicator. */
  readonly processes: number
  /** Whether processes share cores, so that waiting for one another costs more than messages do. */
  readonly isOversubscribed: boolean
  /** Longer messages stay with their sender until the receiver is ready. */
  readonly eagerLimitBytes: number
  /** Bytes of the unit of data: what MPI's count describes. */
  readonly sizeBytes: number
  /** Order in which a reduction must be combined. */
  readonly order?: CombinationOrder
}

/** What the rule chooses; null for the messages that the collective's own file writes. */
export interface Choice {
  readonly id: string
  readonly segments: number
}

/** Up to so many processes, a root sends long data to all others at the same time: no process waits for two others. */
const fewProcesses = 8

/**
 * The algorithm of a call that names none. Pure: ranks with the same facts choose alike.
 *
 * | collective | where | algorithm |
 * |---|---|---|
 * | barrier | processes share cores | `barrier-linear` |
 * | allreduce | processes share cores, up to the eager limit | `allreduce-linear` |
 * | allreduce | in any order, longer than the eager limit per process | `allreduce-rabenseifner` for powers of two, else `allreduce-ring` |
 * | bcast | longer than the eager limit, up to 8 processes | `bcast-linear` |
 * | bcast | longer, more processes | `bcast-scatter-allgather` |
 * | all others | | the messages written by hand |
 */
export function defaultChoice(facts: CallFacts): Choice | null {
  const { collective, processes, isOversubscribed, eagerLimitBytes, sizeBytes, order } = facts
  if (processes === 1) return null
  const isLong = sizeBytes > eagerLimitBytes
  switch (collective) {
    case 'barrier':
      return isOversubscribed && processes > 2 ? { id: 'barrier-linear', segments: 1 } : null
    case 'allreduce':
      if (!isLong) return isOversubscribed && processes > 2 ? { id: 'allreduce-linear', segments: 1 } : null
      if (order !== 'any' || sizeBytes / processes <= eagerLimitBytes) return null
      return { id: isPowerOfTwo(processes) ? 'allreduce-rabenseifner' : 'allreduce-ring', segments: 1 }
    case 'bcast':
      if (!isLong) return null
      return { id: processes <= fewProcesses ? 'bcast-linear' : 'bcast-scatter-allgather', segments: 1 }
    default:
      return null
  }
}

function isPowerOfTwo(count: number): boolean {
  return (count & (count - 1)) === 0
}

/** Segments of an algorithm that a call names without their number. */
export function defaultSegments(id: string, sizeBytes: number): number {
  if (!id.endsWith('-chain')) return 1
  let segments = 1
  while (segments < mostDefaultSegments && sizeBytes / segments > segmentBytes) segments *= 2
  return segments
}

const segmentBytes = 262_144
const mostDefaultSegments = 256
