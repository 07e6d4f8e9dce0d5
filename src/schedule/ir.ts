import type { ProcessTopology } from '../topology/process-topology.js'
import type { Specification } from './specification.js'

/**
 * A collective operation as data: per rank, phases of sends, receives, copies and combinations of blocks (decision 5).
 * Immutable; typed arrays in compressed rows. Memory is proportional to ranks, operations and entries.
 *
 * **Places** hold a rank's data: places 0 to `own - 1` hold its contribution (its send buffer), the next `slots` are
 * the blocks of its receive buffer in order, the next `staging[rank]` are temporary. A place is written at most once.
 * Whether two places share memory is decided when a schedule is lowered.
 *
 * **Blocks and partial results.** An entry names the block that it moves, numbered as in the specification. A partial
 * result, the combination of blocks that are the p-th part of their origins, has only its part as a name: `~p`. A
 * single block that is combined later may have that name, too.
 *
 * **Phases.** In each phase a rank posts all its receives and starts all its sends together. It waits for all of them,
 * then copies and combines in order. So sends of a phase read the contents that places had when the phase began. A rank
 * enters a phase when it has finished the one before; phases in which it has no operation take no memory. There is no
 * barrier between ranks. Order matters among a phase's sends, among its receives, and among its copies and
 * combinations; the builder and the reader list sends, then receives, then the others.
 *
 * **Waits.** Runners and the simulator relax phases: a message leaves as soon as its data are there. A send or receive
 * with {@link Schedule.opAfter} starts no earlier than phases allow.
 *
 * **Matching.** The i-th send from p to q with tag t matches q's i-th receive from p with tag t, in the order of the
 * operations. Both list the same blocks and partial results in the same order.
 */
export interface Schedule {
  readonly specification: Specification
  /** The topology of a neighborhood collective; null for others. */
  readonly topology: ProcessTopology | null
  /** The maker: a strategy of neighborhood collectives, or the id of an algorithm. */
  readonly strategy: string
  /** The settings of the maker, e.g. `{ k: 4, theta: 4, mode: 'aware' }`, for readers and exports. */
  readonly parameters: Parameters
  /** The number of phases. */
  readonly phases: number
  /** The number of temporary places of every rank. Length `ranks`. */
  readonly staging: Int32Array
  /** The operations of rank r, by phase: `opStart[r]` up to the next. Length `ranks + 1`. */
  readonly opStart: Int32Array
  readonly opPhase: Int32Array
  readonly opKind: Uint8Array
  /** The destination of a send, the source of a receive, -1 otherwise. */
  readonly opPeer: Int32Array
  /** The tag of a message; 0 for copies and combinations. */
  readonly opTag: Int32Array
  /**
   * The phase for which every operation waits, though it needs none of its data. A send or receive starts only when all
   * messages of its rank in phases up to this one, which is below its own, are complete. With -1 it waits only for its
   * data. The length is 0 in a schedule in which no operation waits.
   */
  readonly opAfter: Int32Array
  /** The entries of every operation. Length `ops + 1`. */
  readonly entryStart: Int32Array
  /** The block moved, or `~p` for a partial result of part p; `~p` in a combination of part p. */
  readonly entryBlock: Int32Array
  /** The place that is read; of a combination, that of the left operand. -1 for a receive. */
  readonly entryFrom: Int32Array
  /**
   * The place of the right operand; -1 unless it is a combination. The length is 0 in a schedule without combinations.
   */
  readonly entryRight: Int32Array
  /** The place that is written. -1 for a send. */
  readonly entryTo: Int32Array
}

export type Parameters = Readonly<Record<string, string | number | boolean>>

/** A schedule of a neighborhood collective. */
export interface NeighborSchedule extends Schedule {
  readonly topology: ProcessTopology
}

/** Whether a schedule is for a topology. */
export function isNeighborSchedule(schedule: Schedule): schedule is NeighborSchedule {
  const { topology = null } = Object(schedule) as Partial<Schedule>
  return topology !== null
}

/** The kinds of operations. A combination stores left operand `op` right operand in a new place. */
export const opKind = { send: 0, receive: 1, copy: 2, combine: 3 } as const

/** Returns the name of a partial result in an entry, from the part of its blocks. It is its own inverse. */
export function partialResult(part: number): number {
  return ~part
}

/**
 * Tags distinguish messages of a pair. Strategies with several of one kind per pair encode the step above
 * these values.
 */
export const scheduleTag = { exchange: 0, combined: 1, direct: 2 } as const

/**
 * Some ranks of a schedule. The other ranks are empty in its specification, topology and operations, so it cannot be
 * run. `verifySlice` reports what can be proved of it.
 */
export interface ScheduleSlice {
  readonly schedule: Schedule
  /** The ranks, ascending. */
  readonly ranks: Int32Array
  /** The hash of the whole topology, from the header; null without one. */
  readonly topologyHash: string | null
}
