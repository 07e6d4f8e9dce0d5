import { meanOf } from '../../base/search.js'
import { type Level, levels } from '../../machine/profile.js'
import type { SimulatedSearches } from './queue-searches.js'

/**
 * What a schedule costs on a machine, predicted. Times are microseconds of the machine after a common start;
 * no figure here is measured.
 */
export interface Simulation {
  /** Until the last rank is done. */
  readonly timeUs: number
  /** When each rank was done. Length: ranks. */
  readonly endUs: Float64Array
  /** How long each rank was idle before its end, because what it needed had not arrived. Length: ranks. */
  readonly waitUs: Float64Array
  /** What determined `timeUs`: intervals without gaps from 0 to `timeUs`, each the cause of the next. */
  readonly criticalPath: readonly PathStep[]
  /** Messages between processes (frames) and their payload, by how far they went. */
  readonly traffic: Readonly<Record<Level, Traffic>>
  /** Searches of the matching queues; null where the profile has no `matchNsPerEntry` above 0. */
  readonly matching: SimulatedSearches | null
  /**
   * Recorded only on demand (`timeline: true`): about 44 bytes per interval, 5 to 8 intervals per message.
   */
  readonly timeline: Timeline | null
}

export interface Traffic {
  readonly messages: number
  readonly bytes: number
}

/** What a rank or a message does in an interval. */
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
 * `queue`: how much longer a message takes because of others, at gaps, at ports and on links; `transfer`: the rest of
 * its way. `copy`: to slots that hold what is elsewhere, too.
 */
export interface PathStep {
  readonly activity: Activity
  /** Whose processor, or the sender of the message: of a process with several ranks the lowest. */
  readonly rank: number
  /** The other end of a send, receive, transfer or queue; -1 otherwise. */
  readonly peer: number
  readonly startUs: number
  readonly endUs: number
}

/**
 * All intervals of processors and messages, by rank, then start. Columns of equal length. Of a process with
 * several ranks the lowest stands for it.
 */
export interface Timeline {
  readonly rank: Int32Array
  /** Index in {@link activities}. */
  readonly activity: Uint8Array
  /** The other end of a send, receive, transfer or queue, the sender waited for; -1 otherwise. */
  readonly peer: Int32Array
  /** The message that is packed, sent, on its way, received, unpacked or waited for; -1 otherwise. */
  readonly message: Int32Array
  /** Of the message; 0 without one. */
  readonly bytes: Float64Array
  readonly startUs: Float64Array
  readonly endUs: Float64Array
}

/** The JSON object holds no more steps of the critical path than this: the last ones. */
export const mostPathSteps = 10_000

/** What a simulation's JSON object says besides its input; all times are simulated. */
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
