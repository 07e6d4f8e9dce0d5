import type { Algorithm } from '../../collective/patterns/algorithm.js'
import { atDefaults } from '../../collective/patterns/parameterized.js'
import { defaultRuntimeOptions } from '../../messages/process/runtime.js'
import type { Collective } from '../../schedule/specification.js'
import type { TuningSetting } from '../../tuning/settings/setting.js'
import { callProcesses, type TuningCall } from '../../tuning/settings/tuning-call.js'

/**
 * The facts that all ranks of a call know before it; for a bcast or scatter, all ranks of the root's process know them.
 */
export interface CallFacts {
  readonly collective: Collective
  readonly processes: number
  /** Whether processes share cores, so that waiting for one another costs more than messages do. */
  readonly isOversubscribed: boolean
  /** Whether all these processes can read each other's memory. */
  readonly isMemoryShared: boolean
  /** The size in bytes beyond which messages stay with their sender until the receiver is ready. */
  readonly eagerLimitBytes: number
  /** The bytes of the unit of data, which MPI's count describes. */
  readonly sizeBytes: number
}

/** The algorithm that the rule chooses; null stands for the messages that the collective's own file writes. */
interface DefaultChoice {
  readonly id: string | null
  /** The reason, in a few words. */
  readonly why: string
}

/**
 * Chooses the algorithm of a call that names none. It is pure: ranks with the same facts choose alike.
 *
 * | collective | where | algorithm |
 * |---|---|---|
 * | barrier | processes share cores | `barrier-linear` |
 * | barrier | elsewhere | `barrier-dissemination` |
 * | allreduce | processes share cores, up to the eager limit | `allreduce-linear` |
 * | allreduce | from 16 KiB per process, or what is past the eager limit | `allreduce-segmented` |
 * | allreduce | shorter, two processes, each one participant, built-in operations | `allreduce-recursive-doubling` |
 * | bcast | past the eager limit, where processes can read each other's memory | `bcast-linear` |
 * | reduce, allreduce, scan, exscan | elsewhere | `reduce-tree`, `allreduce-tree`, `scan-tree`, `exscan-tree` |
 * | reduce-scatter | elsewhere | `reduce-scatter-tree` |
 * | reduce-scatter | processes share cores; where that cannot serve | `reduce-tree`, then `scatter-linear` |
 * | bcast | elsewhere | with the head of the call, down a binomial tree; past the eager limit `bcast-binomial` |
 * | allgather | blocks of a rank below 16 KiB and up to the eager limit | `allgather-bruck` |
 * | allgather | longer blocks | `allgather-linear` |
 * | scatter, gather, alltoall | | `scatter-linear`, `gather-linear`, `alltoall-linear` |
 *
 * With two participants, recursive doubling has as many messages as the tree and half its phases. With more it has more
 * combinations and may have more messages, so the caller takes the tree. It combines on both processes, so the results
 * of a user-defined operation would have to be equal there.
 *
 * If memory is shared, data that a root or a rank sends to many are copied once for all of them. Without shared memory,
 * 4 processes on 2 cores measured these ratios. With 16 MiB, `allreduce-rabenseifner` reached 0.6 to 0.9 times the
 * bandwidth of `allreduce-segmented`. With 1 MiB, `bcast-linear` reached 0.8 to 1.0 times that of `bcast-binomial`.
 */
export function defaultChoice(facts: CallFacts): DefaultChoice {
  const { collective, processes, isOversubscribed, isMemoryShared, eagerLimitBytes, sizeBytes } = facts
  const isCrowded = isOversubscribed && processes > 2
  const cores = isCrowded ? 'processes share cores' : 'processes do not share cores'
  switch (collective) {
    case 'barrier':
      return { id: isCrowded ? 'barrier-linear' : 'barrier-dissemination', why: cores }
    case 'allreduce':
      if (isCrowded && sizeBytes <= eagerLimitBytes)
        return { id: 'allreduce-linear', why: `${cores}, up to the eager limit` }
      if (isLongPart(facts)) return { id: 'allreduce-segmented', why: 'long: a part for each process' }
      if (processes === 2) return { id: 'allreduce-recursive-doubling', why: 'two processes, short parts' }
      return { id: 'allreduce-tree', why: 'short parts per process' }
    case 'bcast':
      if (sizeBytes <= eagerLimitBytes) return { id: null, why: 'up to the eager limit' }
      return isMemoryShared
        ? { id: 'bcast-linear', why: 'past the eager limit, memory is shared' }
        : { id: null, why: 'past the eager limit, memory is not shared' }
    case 'reduce-scatter':
      return { id: isCrowded ? null : 'reduce-scatter-tree', why: cores }
    case 'allgather':
      if (isLongBlock(facts)) return { id: 'allgather-linear', why: 'long blocks' }
      return { id: 'allgather-bruck', why: 'short blocks' }
    case 'reduce':
    case 'scan':
    case 'exscan':
      return { id: `${collective}-tree`, why: theOnlyOne }
    case 'scatter':
    case 'gather':
    case 'alltoall':
      return { id: `${collective}-linear`, why: theOnlyOne }
    default:
      return { id: null, why: theOnlyOne }
  }
}

const theOnlyOne = 'the only one of the rule'

/**
 * Returns the rule's choice for a call that was measured, on processes that do not share cores and with the usual eager
 * limit. Broadcasts whose data travel with their head, down a binomial tree, count as `bcast-binomial`.
 */
export function ruleOf(call: TuningCall): Pick<TuningSetting, 'algorithm' | 'parameters'> | null {
  const { collective, bytes, isMemoryShared = false } = call
  const processes = callProcesses(call)
  const sizeBytes = collective === 'reduce-scatter' ? bytes * processes : bytes
  const facts = { collective, processes, isOversubscribed: false, isMemoryShared, eagerLimitBytes, sizeBytes }
  const algorithm = defaultChoice(facts).id ?? (collective === 'bcast' ? 'bcast-binomial' : null)
  return algorithm === null ? null : { algorithm, parameters: {} }
}

const { eagerLimitBytes } = defaultRuntimeOptions

/**
 * Tells whether a rank's block is sent by itself, from the sender's array to the receiver's. Shorter blocks are copied
 * into one message with those of the other ranks of the process.
 */
export function isLongBlock({
  sizeBytes,
  eagerLimitBytes,
}: Pick<CallFacts, 'sizeBytes' | 'eagerLimitBytes'>) {
  return sizeBytes >= longPartBytes || sizeBytes > eagerLimitBytes
}

/**
 * Tells whether the part that each process sends each other is worth separate messages, if the data are cut into a part
 * for each.
 */
function isLongPart({ sizeBytes, processes, eagerLimitBytes }: CallFacts): boolean {
  const partBytes = Math.floor(sizeBytes / processes)
  return processes > 1 && (partBytes >= longPartBytes || partBytes > eagerLimitBytes)
}

const longPartBytes = 16_384

export function defaultSegments(algorithm: Algorithm, sizeBytes: number): number {
  if (!atDefaults(algorithm).id.endsWith('-chain')) return algorithm.sections ?? 1
  let segments = 1
  while (segments < mostDefaultSegments && sizeBytes / segments > segmentBytes) segments *= 2
  return segments
}

const segmentBytes = 262_144
const mostDefaultSegments = 256
