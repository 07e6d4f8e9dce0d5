import type { Schedule } from '../ir.js'

/**
 * The program by which one process runs a schedule for all the ranks it hosts (decision 6). Messages and copies between
 * its ranks disappear: they are names of values. It sends at most one frame to another process in a round.
 *
 * **Values** are assigned once and numbered: first the contributions of its ranks, by hosted rank, then own place. The
 * values of frames follow, by receive frame and the order within it, then the results of combinations, in their order.
 *
 * **Frames** hold blocks first, ascending, each once, then partial results by sender, receiver, tag and order. A block
 * is left out of a frame when an earlier frame of the same two processes carries it or the receiver hosts its origin;
 * so a frame may hold no value, and is sent nevertheless. Two processes exchange at most one frame each way per round.
 *
 * **Running it.** Receives may be posted at any time. A frame leaves when its values are there, and a combination is
 * made when its operands are there; {@link ProcessProgram.dependencies} count the missing ones. If the schedule has
 * waits, {@link Gates} also delay frames and the posts of receives. Dependencies have no cycle across all processes,
 * because a frame depends only on frames of earlier rounds.
 */
export interface ProcessProgram {
  readonly process: number
  /** The hosted ranks, ascending. */
  readonly ranks: Int32Array
  /** The number of rounds; few of them need have frames. */
  readonly rounds: number
  /**
   * The term of every value: a block, or `~p` for a partial result of part p. It determines the length of the value.
   */
  readonly valueTerm: Int32Array
  /** The values that the i-th hosted rank contributes: `ownStart[i]` up to the next. Length `ranks.length + 1`. */
  readonly ownStart: Int32Array
  readonly send: SendFrames
  readonly receive: ReceiveFrames
  readonly combine: Combinations
  readonly gates: Gates
  readonly dependencies: Dependencies
  /**
   * The slots to fill from value v: `fillStart[v]` up to the next. Every slot of every hosted rank occurs once, at the
   * first value that holds its block or at its reduction. Length `values + 1`.
   */
  readonly fillStart: Int32Array
  /** The index into `ranks`. */
  readonly fillRank: Int32Array
  /** The index of the block in that rank's receive buffer. */
  readonly fillSlot: Int32Array
  readonly counts: ProcessCounts
}

/** The frames to send, by round, then peer, beginning with the process after this one. */
export interface SendFrames {
  readonly round: Int32Array
  /** The process at the other end. */
  readonly peer: Int32Array
  /** The number of messages of the schedule that this frame carries, at least 1. */
  readonly messages: Int32Array
  /** The values of frame j, in order: `value[valueStart[j]]` up to the next. Length frames + 1. */
  readonly valueStart: Int32Array
  readonly value: Int32Array
}

/** The frames to receive, by round, then peer. */
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
 * The waits of frames besides those for their values. Gate g is open when the first `sends[g]` send frames are
 * complete, their memory free again, and the first `receives[g]` receive frames have arrived. A later gate has at least
 * the frames of those before. All lists are empty in most programs, because no message of their ranks waits.
 */
export interface Gates {
  readonly sends: Int32Array
  readonly receives: Int32Array
  /** By send frame, the gate for which it waits before it leaves; -1 for none. */
  readonly ofSend: Int32Array
  /** By receive frame, the gate for which it waits before it is posted; -1 for none. */
  readonly ofReceive: Int32Array
}

/**
 * The dependencies between tasks and bringers. Tasks are the send frames, then the combinations; bringers of values are
 * the receive frames, then the combinations. Contributions are there at the start.
 *
 * With gates, the gates are tasks, too, which take no time, and so is posting each receive frame. Complete gates and
 * send frames are then bringers as well.
 */
export interface Dependencies {
  /**
   * The number of bringers for which each task waits. Length: send frames + combinations; with gates, then the gates
   * and the receive frames.
   */
  readonly needs: Int32Array
  /**
   * The tasks that wait for the i-th receive frame, or for combination c at `receive frames + c`: `useStart[i]` up to
   * the next, each once. With gates, then those of each gate and each send frame.
   */
  readonly useStart: Int32Array
  readonly use: Int32Array
}

export interface ProcessCounts {
  readonly framesSent: number
  readonly framesReceived: number
  /** The number of messages of the schedule that leave the process in frames. */
  readonly messagesSent: number
  /** The number of messages of the schedule between ranks of the process. */
  readonly messagesInside: number
  /** The number of blocks and partial results in the frames sent. */
  readonly blocksSent: number
}

export interface LoweredSchedule {
  readonly schedule: Schedule
  /** The process of every rank. */
  readonly placement: Int32Array
  /** The programs of all processes, including those without ranks. */
  readonly programs: readonly ProcessProgram[]
}
