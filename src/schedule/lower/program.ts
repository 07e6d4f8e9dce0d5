import type { Schedule } from '../ir.js'

/**
 * What one process does to run a schedule for all the ranks it hosts (decision 6). Messages and copies
 * between its ranks disappear: they are names of values. What it sends to another process in a round is one
 * frame.
 *
 * **Values** are assigned once and numbered: first what its ranks contribute (by hosted rank, then own
 * place), then what frames bring, in the order of the receive frames and within a frame in its order, then
 * what combinations make, in their order.
 *
 * **Frames** hold blocks first, ascending, each once, then partial results by sender, receiver, tag and
 * order. A block is left out of a frame when an earlier frame of the same two processes carries it or the
 * receiver hosts its origin; so a frame may hold no value; it is sent nevertheless. Two processes exchange at
 * most one frame each way per round.
 *
 * **Running it.** Receives may be posted at any time. A frame leaves when its values are there, a combination
 * is made when its operands are there; {@link ProcessProgram.dependencies} count what is missing. Where the
 * schedule has waits, frames leave and receives are posted behind {@link Gates} also. What depends on what has
 * no cycle across all processes: a frame depends on frames of earlier rounds only.
 */
export interface ProcessProgram {
  readonly process: number
  /** Hosted ranks, ascending. */
  readonly ranks: Int32Array
  /** Rounds are below this number; few of them need have frames. */
  readonly rounds: number
  /**
   * What every value is: a block, or `~p` for a partial result of part p. It gives the length of the value.
   */
  readonly valueTerm: Int32Array
  /**
   * Values that the i-th hosted rank contributes: `ownStart[i]` up to the next. Length `ranks.length + 1`.
   */
  readonly ownStart: Int32Array
  readonly send: SendFrames
  readonly receive: ReceiveFrames
  readonly combine: Combinations
  readonly gates: Gates
  readonly dependencies: Dependencies
  /**
   * Slots to fill from value v: `fillStart[v]` up to the next. Every slot of every hosted rank occurs once,
   * at the first value that holds its block or at its reduction. Length `values + 1`.
   */
  readonly fillStart: Int32Array
  /** Index into `ranks`. */
  readonly fillRank: Int32Array
  /** Index of the block in that rank's receive buffer. */
  readonly fillSlot: Int32Array
  readonly counts: ProcessCounts
}

/** By round, then peer, beginning with the process after this one. */
export interface SendFrames {
  readonly round: Int32Array
  /** Process at the other end. */
  readonly peer: Int32Array
  /** Messages of the schedule that this frame carries, at least 1. */
  readonly messages: Int32Array
  /** Values of frame j in order: `value[valueStart[j]]` up to the next. Length frames + 1. */
  readonly valueStart: Int32Array
  readonly value: Int32Array
}

/** By round, then peer. */
export interface ReceiveFrames {
  readonly round: Int32Array
  readonly peer: Int32Array
  readonly messages: Int32Array
  /** Frame j brings the values numbered `valueStart[j]` up to the next. Length frames + 1. */
  readonly valueStart: Int32Array
}

/** The c-th combination makes value `firstValue + c` of the values `left[c] op right[c]`, which are lower. */
export interface Combinations {
  readonly firstValue: number
  readonly left: Int32Array
  readonly right: Int32Array
}

/**
 * What frames wait for besides their values. Gate g is open when the first `sends[g]` send frames are
 * complete, their memory free again, and the first `receives[g]` receive frames have arrived. A later gate has
 * at least the frames of those before. All lists are empty in most programs: no message of their ranks waits.
 */
export interface Gates {
  readonly sends: Int32Array
  readonly receives: Int32Array
  /** The gate that a send frame waits for before it leaves; -1: none. By frame. */
  readonly ofSend: Int32Array
  /** The gate that a receive frame waits for before it is posted; -1: none. By frame. */
  readonly ofReceive: Int32Array
}

/**
 * What waits for what. Tasks are the send frames, then the combinations; what brings values are the receive
 * frames, then the combinations. What ranks contribute is there at the start.
 *
 * With gates, these are tasks, too, which take no time, and so is posting each receive frame; and gates and
 * send frames, when they are complete, bring others on.
 */
export interface Dependencies {
  /**
   * How many bringers each task waits for. Length: send frames + combinations; with gates, then the gates and
   * the receive frames.
   */
  readonly needs: Int32Array
  /**
   * Tasks that wait for the i-th receive frame, or for combination c at `receive frames + c`: `useStart[i]`
   * up to the next, each once. With gates, then for each gate and each send frame.
   */
  readonly useStart: Int32Array
  readonly use: Int32Array
}

export interface ProcessCounts {
  readonly framesSent: number
  readonly framesReceived: number
  /** Messages of the schedule that leave the process in frames. */
  readonly messagesSent: number
  /** Messages of the schedule between ranks of the process. */
  readonly messagesInside: number
  /** Blocks and partial results in the frames sent. */
  readonly blocksSent: number
}

export interface LoweredSchedule {
  readonly schedule: Schedule
  /** Process of every rank. */
  readonly placement: Int32Array
  /** One per process, including those without ranks. */
  readonly programs: readonly ProcessProgram[]
}
