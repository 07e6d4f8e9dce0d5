import { wrongValue } from '../../errors.js'
import { rowStarts } from '../../topology/compressed-rows.js'
import { topologyLimits } from '../../topology/limits.js'
import { opKind, type Schedule } from '../ir.js'
import { requireSchedule } from '../require-schedule.js'
import { operationsOfRank } from '../walk.js'
import { dependenciesOf } from './dependencies.js'
import { framesReceived, framesSent, gatesOf, noGates } from './lower-frames.js'
import { valuesOf } from './lower-values.js'
import {
  hostedRanks,
  type LoweringContext,
  loweringContext,
  processCount,
  requirePlacement,
} from './lowering-context.js'
import type { LoweredSchedule, ProcessProgram } from './program.js'
import { type MessageRounds, messageRounds } from './rounds.js'

/**
 * Lowers a schedule to the programs of all processes.
 *
 * @param placement the process of every rank, 0 to `processes - 1`.
 * @param processes their number, at most 2^24; by default one more than the largest in `placement`.
 * @throws ERR_PLACEMENT when `placement` does not give every rank a process, or there are fewer processes than it
 *   names, or too many.
 * @throws ERR_SCHEDULE when a message has only one end, ranks wait for each other, or a process lacks a value it needs.
 */
export function lower(schedule: Schedule, placement: Int32Array, processes?: number): LoweredSchedule {
  requireSchedule(schedule)
  requirePlacement(placement)
  const least = processCount(placement)
  const count = processes ?? least
  if (!Number.isInteger(count) || count < least || count > topologyLimits.ranks) {
    const expected = `expected a number of processes from the ${least} of the placement to ${topologyLimits.ranks}`
    throw wrongValue('ERR_PLACEMENT', expected, count)
  }
  const context = loweringContext(schedule, placement, messageRounds(schedule))
  const programs: ProcessProgram[] = []
  for (let process = 0; process < count; process++) programs.push(programOf(context, process))
  return { schedule, placement, programs }
}

/**
 * Lowers a schedule to the program of one process, from the schedule and the placement alone. So sender and receiver
 * compute the same frames without communication. Every schedule that verifies can be lowered; in others some faults are
 * not detected.
 *
 * @param rounds of messages. `messageRounds` makes them once for several processes. `roundsByPhase` makes them if a
 *   process knows only the operations of its own ranks, and all other ranks have none. No rank may hold blocks of other
 *   origins before then
 * @throws ERR_PLACEMENT when `placement` does not give every rank a process.
 * @throws ERR_SCHEDULE when a message has only one end, ranks wait for each other, or a process lacks a value it needs.
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
  const received = framesReceived(context, process, ranks)
  const sent = framesSent(context, process, ranks)
  const {
    valueTerm,
    ownStart,
    sent: value,
    combine,
    ofSlot,
  } = valuesOf(context, process, ranks, sent, received)
  const firstArrival = ownStart[ranks.length]
  const send = {
    round: sent.round,
    peer: sent.peer,
    messages: sent.messages,
    valueStart: sent.termStart,
    value,
  }
  const receive = {
    round: received.round,
    peer: received.peer,
    messages: received.messages,
    valueStart: received.termStart.map((start) => start + firstArrival),
  }
  const gates = context.awaited.length > 0 ? gatesOf(sent, received) : noGates
  const messagesSent = sent.messages.reduce((sum, messages) => sum + messages, 0)
  return {
    process,
    ranks,
    rounds: context.rounds.rounds,
    valueTerm,
    ownStart,
    send,
    receive,
    combine,
    gates,
    dependencies: dependenciesOf(send, receive, combine, gates),
    ...fills(context, ranks, valueTerm.length, ofSlot),
    counts: {
      framesSent: sent.peer.length,
      framesReceived: received.peer.length,
      messagesSent,
      messagesInside: sendsOf(context.schedule, ranks) - messagesSent,
      blocksSent: value.length,
    },
  }
}

/** Returns the slots by value, from the values by slot. */
function fills({ schedule }: LoweringContext, ranks: Int32Array, values: number, ofSlot: Int32Array) {
  const { slotStart } = schedule.specification
  const fillStart = rowStarts(values, ofSlot)
  const next = fillStart.slice()
  const fillRank = new Int32Array(ofSlot.length)
  const fillSlot = new Int32Array(ofSlot.length)
  let s = 0
  for (const [i, rank] of ranks.entries()) {
    const slots = slotStart[rank + 1] - slotStart[rank]
    for (let slot = 0; slot < slots; slot++, s++) {
      const at = next[ofSlot[s]]++
      fillRank[at] = i
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
