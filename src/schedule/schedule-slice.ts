import type { Schedule } from './ir.js'

/**
 * Some ranks of a schedule. In its topology and operations the other ranks are empty, so it is no schedule to run;
 * `verifySlice` says what can be proved of it.
 */
export interface ScheduleSlice {
  readonly schedule: Schedule
  /** Ascending. */
  readonly ranks: Int32Array
  /** Of the whole topology, as the header gives it. */
  readonly topologyHash: string
}
