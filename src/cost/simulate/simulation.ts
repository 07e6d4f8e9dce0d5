import { meanOf } from '../../base/search.js'
import { type Level, levels } from '../../machine/profile.js'
import type { SimulatedSearches } from './queue-searches.js'

/**
 * The predicted cost of a schedule on a machine. Times are microseconds of the machine after a common start; no figure
 * here is measured.
 */
export interface Simulation {
  /** The time until the last rank is done. */
  readonly timeUs: number
  /** The time at which each rank was done. Length: ranks. */
  readonly endUs: Float64Array
  /** The time that each rank was idle before its end, because its data had not arrived. Length: ranks. */
  readonly waitUs: Float64Array
  /** The steps that determined `timeUs`: intervals without gaps from 0 to `timeUs`, each the cause of the next. */
  readonly criticalPath: readonly PathStep[]
  /** The messages between processes (frames) and their payload, by the level over which they travelled. */
  readonly traffic: Readonly<Record<Level, Traffic>>
  /** The searches of the matching queues; null if the profile has no `matchNsPerEntry` above 0. */
  readonly matching: SimulatedSearches | null
  /** The timeline, recorded on demand (`timeline: true`): about 44 bytes per interval, 5 to 8 intervals per message. */
  readonly timeline: Timeline | null
}

export interface Traffic {
  readonly messages: number
  readonly bytes: number
}

/** The activities of ranks and messages in an interval. */
export const activities = [
  'send',
  'receive',
  'pack',
  'unpack',
  'combine',
  'copy',
  'transfer',
  'queue',
  'wait',
] as const
export type Activity = (typeof activities)[number]

/**
 * A step of the critical path. `queue` is the delay of a message by others, at gaps, at ports and on links; `transfer`
 * is the rest of its way. `copy` includes the copies to slots from elsewhere.
 */
export interface PathStep {
  readonly activity: Activity
  /** The rank of the processor, or of the message's sender. The lowest rank stands for a process with several. */
  readonly rank: number
  /** The other end of a send, receive, transfer or queue; -1 otherwise. */
  readonly peer: number
  readonly startUs: number
  readonly endUs: number
}

/**
 * All intervals of processors and messages, by rank, then start. Columns of equal length. The lowest rank stands for a
 * process with several.
 */
export interface Timeline {
  readonly rank: Int32Array
  /** The index in {@link activities}. */
  readonly activity: Uint8Array
  /** The other end of a send, receive, transfer or queue, or the sender waited for; -1 otherwise. */
  readonly peer: Int32Array
  /** The message that is packed, sent, on its way, received, unpacked or waited for; -1 otherwise. */
  readonly message: Int32Array
  /** The bytes of the message; 0 without one. */
  readonly bytes: Float64Array
  readonly startUs: Float64Array
  readonly endUs: Float64Array
}

/** The most steps of the critical path in the JSON object, which has the last ones. */
const mostPathSteps = 10_000

/** Returns the result part of a simulation's JSON object, without its input; all times are simulated. */
export function simulationObject({ criticalPath, matching, timeUs, traffic, waitUs }: Simulation) {
  return {
    origin: 'simulated' as const,
    timeUs,
    waitUs: { mean: meanOf(waitUs), max: waitUs.reduce((most, us) => Math.max(most, us), 0) },
    messages: Object.fromEntries(levels.map((level) => [level, traffic[level].messages])),
    bytes: Object.fromEntries(levels.map((level) => [level, traffic[level].bytes])),
    ...(matching === null ? {} : { matching }),
    pathSteps: criticalPath.length,
    criticalPath: criticalPath.slice(-mostPathSteps),
  }
}
