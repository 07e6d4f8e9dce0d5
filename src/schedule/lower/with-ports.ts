import { firstNotBelow, indexIn, stableOrder } from '../../base/search.js'
import { wrongValue } from '../../errors.js'
import { maxPhases } from '../builder.js'
import { opKind, type Schedule } from '../ir.js'
import { OperationLog } from '../operation-log.js'
import { requireSchedule } from '../require-schedule.js'
import { forEachPhase, isMessage } from '../walk.js'
import { type MessageRounds, messageRounds, roundsAwaited } from './rounds.js'

/** The most sends that a rank may have in progress. */
export const mostSendsAtOnce = 2 ** 16

/**
 * Returns an equivalent schedule in which no rank has more than `ports` sends to other ranks in progress: it starts a
 * send only when enough of those before it are complete. Messages, their contents, their order per pair and tag, and
 * the final contents of places are the same.
 *
 * A phase in which a rank sends more becomes several, its turns. A rank's sends take turns by peer, beginning with the
 * rank after it, so that not all ranks send to one (docs/decisions/0026). Each receive is in the turn of its send,
 * copies and combinations follow the last message of the rank. A send waits (`opAfter`) for the latest phase up to
 * which all sends have to be complete, so that at most `ports` remain; then the receives of these phases are complete,
 * too.
 *
 * **Why places are right.** A place is written once, and a send reads places that were written in a phase before its
 * own. So it reads the same in a later turn.
 *
 * **Why no cycle arises.** Both ends of every message are in one phase of the result. If they are not in the schedule,
 * the phases are its rounds, in which messages travel when it is lowered. A message then needs only the work of phases
 * before its own, and waits only for messages of these phases. By induction over phases all messages of a phase
 * complete, in whatever order ranks start those that may start. No operation waits for a message of its own phase, so
 * the number of ranks that one process runs does not matter.
 *
 * Memory and time: proportional to operations and entries.
 *
 * @param ports 1 to 2^16
 * @returns the same object if its phases alone keep every rank within `ports`
 * @throws ERR_ARGUMENT for other ports; ERR_SCHEDULE for a message with one end, ranks that wait for each other, and
 *   beyond 2^24 phases
 */
export function withPorts<S extends Schedule>(schedule: S, ports: number): S {
  requireSchedule(schedule)
  if (!Number.isInteger(ports) || ports < 1 || ports > mostSendsAtOnce)
    throw wrongValue('ERR_ARGUMENT', `expected 1 to ${mostSendsAtOnce} ports`, ports)
  const rounds = messageRounds(schedule)
  const turn = turnsOf(schedule, rounds, ports)
  const { phaseOf, phaseUpTo } = numberedPhases(rounds.ofOperation, turn)
  const after = awaitedPhases(schedule, rounds, phaseUpTo)
  const isLimited = limitSends(schedule, phaseOf, ports, after)
  if (!isLimited && turn.every((number) => number === 0)) return schedule

  const log = new OperationLog(schedule.specification.ranks)
  const { opStart, opKind: kinds, opPeer, opTag, entryStart, entryRight } = schedule
  for (let rank = 0; rank + 1 < opStart.length; rank++) {
    for (let op = opStart[rank]; op < opStart[rank + 1]; op++) {
      log.open(rank, phaseOf[op], kinds[op], opPeer[op], opTag[op])
      if (after[op] >= 0) log.wait(after[op])
      for (let e = entryStart[op]; e < entryStart[op + 1]; e++) {
        const right = entryRight.length > 0 ? entryRight[e] : -1
        log.add(schedule.entryBlock[e], schedule.entryFrom[e], schedule.entryTo[e], right)
      }
    }
  }
  return Object.freeze({ ...schedule, ...log.operations() })
}

/** Whether an operation is a send to another rank. */
function isSendOut({ opKind: kinds, opPeer }: Schedule, rank: number, op: number): boolean {
  return kinds[op] === opKind.send && opPeer[op] !== rank
}

/** Returns the turn of every operation in its round. */
function turnsOf(schedule: Schedule, { ofOperation, partner }: MessageRounds, ports: number): Int32Array {
  const { opKind: kinds, opPeer, specification } = schedule
  const turn = new Int32Array(kinds.length)
  forEachPhase(schedule, (rank, first, end) => {
    const sends: number[] = []
    for (let op = first; op < end; op++) if (isSendOut(schedule, rank, op)) sends.push(op)
    if (sends.length <= ports) return
    const { ranks } = specification
    // Sends to one peer keep their order, by which they are matched.
    const order = stableOrder(sends.length, (i) => (opPeer[sends[i]] - rank - 1 + ranks) % ranks)
    for (const [place, i] of order.entries()) turn[sends[i]] = Math.floor(place / ports)
  })
  for (let op = 0; op < kinds.length; op++) if (kinds[op] === opKind.receive) turn[op] = turn[partner![op]]
  forEachPhase(schedule, (_, first, end) => {
    const last = (round: number): number => {
      let latest = 0
      for (let op = first; op < end; op++)
        if (isMessage(schedule, op) && ofOperation[op] === round) latest = Math.max(latest, turn[op])
      return latest
    }
    // Copies and combinations are in one round, listed last.
    if (isMessage(schedule, end - 1)) return
    const latest = last(ofOperation[end - 1])
    for (let op = first; op < end; op++) if (!isMessage(schedule, op)) turn[op] = latest
  })
  return turn
}

interface NumberedPhases {
  /** The phase of the result, by operation. */
  readonly phaseOf: Int32Array
  /** Returns the last phase of the rounds up to one; -1 if there are none. */
  phaseUpTo(round: number): number
}

/** Numbers the phases: rounds with operations, as many phases each as they have turns. @throws ERR_SCHEDULE */
function numberedPhases(ofOperation: Int32Array, turn: Int32Array): NumberedPhases {
  const sorted = ofOperation.slice().sort()
  const distinct = sorted.filter((round, i) => i === 0 || round !== sorted[i - 1])
  const index = ofOperation.map((round) => indexIn(distinct, round))
  const first = new Int32Array(distinct.length + 1)
  for (let op = 0; op < turn.length; op++) first[index[op] + 1] = Math.max(first[index[op] + 1], turn[op] + 1)
  let phases = 0
  for (let i = 0; i < distinct.length; i++) {
    phases += first[i + 1]
    if (phases > maxPhases)
      throw wrongValue('ERR_SCHEDULE', `expected a schedule that needs at most ${maxPhases} phases`, phases)
    first[i + 1] = phases
  }
  return {
    phaseOf: turn.map((number, op) => first[index[op]] + number),
    phaseUpTo: (round) => first[firstNotBelow(distinct, round + 1, 0, distinct.length)] - 1,
  }
}

/** Returns the phases of the result for which operations of the schedule wait. */
function awaitedPhases(
  schedule: Schedule,
  rounds: MessageRounds,
  phaseUpTo: NumberedPhases['phaseUpTo'],
): Int32Array {
  const awaited = roundsAwaited(schedule, rounds)
  const after = new Int32Array(schedule.opKind.length).fill(-1)
  for (let op = 0; op < awaited.length; op++) if (awaited[op] >= 0) after[op] = phaseUpTo(awaited[op])
  return after
}

/**
 * Delays sends when more than `ports` of their rank would be in progress.
 * @returns whether any waits longer than before
 */
function limitSends(schedule: Schedule, phaseOf: Int32Array, ports: number, after: Int32Array): boolean {
  const { opStart } = schedule
  let isLimited = false
  for (let rank = 0; rank + 1 < opStart.length; rank++) {
    const sends: number[] = []
    for (let op = opStart[rank]; op < opStart[rank + 1]; op++)
      if (isSendOut(schedule, rank, op)) sends.push(op)
    sends.sort((a, b) => phaseOf[a] - phaseOf[b])
    /** The sends before this one are complete when those from it on may be in progress. */
    let first = 0
    for (let next = 0; next < sends.length; ) {
      let end = next + 1
      while (end < sends.length && phaseOf[sends[end]] === phaseOf[sends[next]]) end++
      while (end - first > ports) first = endOfTurn(sends, phaseOf, first)
      const awaited = first === 0 ? -1 : phaseOf[sends[first - 1]]
      for (; next < end; next++) {
        if (awaited <= after[sends[next]]) continue
        after[sends[next]] = awaited
        isLimited = true
      }
    }
  }
  return isLimited
}

/** Returns the first of sends, by phase, that is in a later phase than one. */
function endOfTurn(sends: readonly number[], phaseOf: Int32Array, from: number): number {
  let end = from + 1
  while (end < sends.length && phaseOf[sends[end]] === phaseOf[sends[from]]) end++
  return end
}
