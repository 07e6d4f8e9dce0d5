import { RankweaveError } from '../../errors.js'
import { opKind, type Schedule } from '../ir.js'
import { operationsOfRank } from '../walk.js'
import {
  framesReceived,
  framesSent,
  hostedRanks,
  type LoweringContext,
  loweringContext,
} from './lower-frames.js'
import { type MessageRounds, messageRounds } from './rounds.js'

/**
 * What one process does to run a schedule for all the ranks it hosts (decision 6). Messages between its ranks
 * disappear: a block that one of them has, all have. What it sends to another process in a round is one frame, in which
 * every block occurs once, ascending. A block is left out of a frame when an earlier frame of the same two
 * processes carried it or the receiver hosts its origin; so a frame may carry no block; it is sent nevertheless.
 *
 * **Values** are the blocks of this process, numbered: first what its ranks contribute (by hosted rank, then own place),
 * then what frames bring, in the order of the receive frames and within a frame in its order.
 *
 * **Running it.** Fill the slots of the contributed values. Then for each round: send the round's frames, whose values
 * are all available; await the round's incoming frames; fill the slots of their values. Sending never waits for
 * receiving, so rounds cannot deadlock. The processes P and Q exchange at most one frame each way per round.
 */
export interface ProcessProgram {
  readonly process: number
  /** Hosted ranks, ascending. */
  readonly ranks: Int32Array
  readonly rounds: number
  /** Block of every value. */
  readonly valueBlock: Int32Array
  /** Values that the i-th hosted rank contributes: `ownStart[i]` up to the next. Length `ranks.length + 1`. */
  readonly ownStart: Int32Array
  readonly send: SendFrames
  readonly receive: ReceiveFrames
  /**
   * Slots to fill from value v: `fillStart[v]` up to the next. Every slot of every hosted rank occurs once, at the
   * first value that holds its block. Length `values + 1`.
   */
  readonly fillStart: Int32Array
  /** Index into `ranks`. */
  readonly fillRank: Int32Array
  /** Index of the block in that rank's receive buffer. */
  readonly fillSlot: Int32Array
  readonly counts: ProcessCounts
}

export interface SendFrames {
  /** Frames of round i: `roundStart[i]` up to the next, by ascending peer. Length `rounds + 1`. */
  readonly roundStart: Int32Array
  /** Process at the other end. Length: frames, as the next. */
  readonly peer: Int32Array
  /** Messages of the schedule that this frame carries, at least 1. */
  readonly messages: Int32Array
  /** Values of frame j in order: `value[valueStart[j]]` up to the next. Length frames + 1. */
  readonly valueStart: Int32Array
  readonly value: Int32Array
}

export interface ReceiveFrames {
  readonly roundStart: Int32Array
  readonly peer: Int32Array
  readonly messages: Int32Array
  /** Frame j brings the values numbered `valueStart[j]` up to the next. Length frames + 1. */
  readonly valueStart: Int32Array
}

export interface ProcessCounts {
  readonly framesSent: number
  readonly framesReceived: number
  /** Messages of the schedule that leave the process in frames. */
  readonly messagesSent: number
  /** Messages of the schedule between ranks of the process. */
  readonly messagesInside: number
  /** Blocks in the frames sent. */
  readonly blocksSent: number
}

export interface LoweredSchedule {
  readonly schedule: Schedule
  /** Process of every rank. */
  readonly placement: Int32Array
  /** One per process, including those without ranks. */
  readonly programs: readonly ProcessProgram[]
}

/**
 * The programs of all processes.
 *
 * @param placement process of every rank, 0 to `processes - 1`.
 * @param processes their number; by default one more than the largest in `placement`.
 * @throws ERR_PLACEMENT when `placement` does not give every rank a process.
 * @throws ERR_SCHEDULE when a message has only one end, ranks wait for each other, or a process lacks a block it needs.
 */
export function lower(
  schedule: Schedule,
  placement: Int32Array,
  processes = placement.reduce((most, process) => Math.max(most, process + 1), 0),
): LoweredSchedule {
  const context = loweringContext(schedule, placement, messageRounds(schedule))
  const programs: ProcessProgram[] = []
  for (let process = 0; process < processes; process++) programs.push(programOf(context, process))
  return { schedule, placement, programs }
}

/**
 * The program of one process, from the schedule and the placement alone: sender and receiver find the same frames
 * without communication. Every schedule that verifies can be lowered; in others not every fault is detected.
 *
 * @throws ERR_PLACEMENT when `placement` does not give every rank a process.
 * @throws ERR_SCHEDULE when a message has only one end, ranks wait for each other, or a process lacks a block it needs.
 */
export function lowerProcess(schedule: Schedule, placement: Int32Array, process: number): ProcessProgram {
  return lowerInRounds(schedule, placement, process, messageRounds(schedule))
}

/**
 * {@link lowerProcess} with the rounds of messages found before: by `messageRounds`, once for several processes, or by
 * `roundsByPhase` where a process knows the operations of its own ranks only, those of all others being empty.
 *
 * @throws ERR_PLACEMENT, ERR_SCHEDULE
 */
export function lowerInRounds(
  schedule: Schedule,
  placement: Int32Array,
  process: number,
  rounds: MessageRounds,
): ProcessProgram {
  return programOf(loweringContext(schedule, placement, rounds), process)
}

function programOf(context: LoweringContext, process: number): ProcessProgram {
  const ranks = hostedRanks(context, process)
  const receive = framesReceived(context, process, ranks)
  const sent = framesSent(context, process, ranks)

  const own = ownValues(context, ranks)
  const firstArrival = own.block.length
  const valueBlock = new Int32Array(firstArrival + receive.block.length)
  valueBlock.set(own.block)
  valueBlock.set(receive.block, firstArrival)
  const valueStart = receive.blockStart.map((start) => start + firstArrival)

  // The first value that holds each block. Values are in order of arrival.
  const valueByBlock = new Map<number, number>()
  for (let v = valueBlock.length - 1; v >= 0; v--) valueByBlock.set(valueBlock[v], v)
  const missing = (block: number, what: string): RankweaveError =>
    new RankweaveError(
      'ERR_SCHEDULE',
      `process ${process} does not have block ${block} ${what}: verify the schedule before lowering it`,
      { details: { process, block } },
    )

  const value = new Int32Array(sent.block.length)
  for (let round = 0; round < context.rounds; round++) {
    const arrived = valueStart[receive.roundStart[round]]
    const from = sent.blockStart[sent.roundStart[round]]
    const to = sent.blockStart[sent.roundStart[round + 1]]
    for (let i = from; i < to; i++) {
      const found = valueByBlock.get(sent.block[i])
      if (found === undefined || found >= arrived)
        throw missing(sent.block[i], `to send it in round ${round}`)
      value[i] = found
    }
  }

  const fills = slotsByValue(context, ranks, valueBlock.length, (block, rank, slot) => {
    const found = valueByBlock.get(block)
    if (found === undefined) throw missing(block, `for slot ${slot} of rank ${rank}`)
    return found
  })
  const messagesSent = sent.messages.reduce((sum, messages) => sum + messages, 0)
  return {
    process,
    ranks,
    rounds: context.rounds,
    valueBlock,
    ownStart: own.start,
    send: {
      roundStart: sent.roundStart,
      peer: sent.peer,
      messages: sent.messages,
      valueStart: sent.blockStart,
      value,
    },
    receive: {
      roundStart: receive.roundStart,
      peer: receive.peer,
      messages: receive.messages,
      valueStart,
    },
    ...fills,
    counts: {
      framesSent: sent.peer.length,
      framesReceived: receive.peer.length,
      messagesSent,
      messagesInside: sendsOf(context.schedule, ranks) - messagesSent,
      blocksSent: value.length,
    },
  }
}

function ownValues({ specification }: LoweringContext, ranks: Int32Array) {
  const { ownStart, ownBlock } = specification
  const start = new Int32Array(ranks.length + 1)
  for (const [i, rank] of ranks.entries()) start[i + 1] = start[i] + ownStart[rank + 1] - ownStart[rank]
  const block = new Int32Array(start[ranks.length])
  for (const [i, rank] of ranks.entries()) {
    block.set(ownBlock.subarray(ownStart[rank], ownStart[rank + 1]), start[i])
  }
  return { start, block }
}

function slotsByValue(
  { specification }: LoweringContext,
  ranks: Int32Array,
  values: number,
  valueFor: (block: number, rank: number, slot: number) => number,
) {
  const { slotStart, slotTerm } = specification
  const valueOfSlot: number[] = []
  const fillStart = new Int32Array(values + 1)
  for (const rank of ranks) {
    for (let s = slotStart[rank]; s < slotStart[rank + 1]; s++) {
      const value = valueFor(slotTerm[s], rank, s - slotStart[rank])
      valueOfSlot.push(value)
      fillStart[value + 1]++
    }
  }
  for (let v = 0; v < values; v++) fillStart[v + 1] += fillStart[v]
  const next = fillStart.slice()
  const fillRank = new Int32Array(valueOfSlot.length)
  const fillSlot = new Int32Array(valueOfSlot.length)
  let i = 0
  for (const [index, rank] of ranks.entries()) {
    const slots = slotStart[rank + 1] - slotStart[rank]
    for (let slot = 0; slot < slots; slot++, i++) {
      const at = next[valueOfSlot[i]]++
      fillRank[at] = index
      fillSlot[at] = slot
    }
  }
  return { fillStart, fillRank, fillSlot }
}

function sendsOf(schedule: Schedule, ranks: Int32Array): number {
  let sends = 0
  for (const rank of ranks) {
    const [from, to] = operationsOfRank(schedule, rank)
    for (let op = from; op < to; op++) if (schedule.opKind[op] === opKind.send) sends++
  }
  return sends
}
