import type { CombinationOrder } from '../../../../collective/algorithm.js'
import type { Collective } from '../../../../schedule/specification.js'

/** What all ranks of a call know before it. */
export interface CallFacts {
  readonly collective: Collective
  /** Processes that host ranks of the communicator. */
  readonly processes: number
  /** Bytes of the unit of data: what MPI's count describes. */
  readonly sizeBytes: number
  /** Order in which a reduction must be combined. */
  readonly order?: CombinationOrder
}

/** What the rule chooses; null for the messages that are written by hand in the collective's own file. */
export interface Choice {
  readonly id: string
  readonly segments: number
}

/** The algorithm of a call that names none. */
export function defaultChoice(_facts: CallFacts): Choice | null {
  return null
}

/** Segments of an algorithm that a call names without their number. */
export function defaultSegments(id: string, sizeBytes: number): number {
  if (!pipelined.has(id)) return 1
  let segments = 1
  while (segments < mostDefaultSegments && sizeBytes / segments > segmentBytes) segments *= 2
  return segments
}

const segmentBytes = 65_536
const mostDefaultSegments = 256

/** Algorithms that send a unit of data segment by segment, so that all links work at the same time. */
const pipelined: ReadonlySet<string> = new Set(['bcast-chain', 'reduce-chain', 'scan-chain', 'exscan-chain'])
