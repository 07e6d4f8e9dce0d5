import type { Schedule } from './ir.js'

/**
 * Some ranks of a schedule. In its specification, topology and operations the other ranks are empty, so it
 * cannot be run; `verifySlice` reports what can be proved of it.
 */
export interface ScheduleSlice {
  readonly schedule: Schedule
  /** Ascending. */
  readonly ranks: Int32Array
  /** The hash of the whole topology, from the header; null where there is none. */
  readonly topologyHash: string | null
}
