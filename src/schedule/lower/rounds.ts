import { RankweaveError } from '../../errors.js'
import { opKind, type Schedule } from '../ir.js'
import { pairMessages } from '../message-pairs.js'
import { isMessage, type PhaseRows, phaseRows, rankOfOperations } from '../walk.js'

export interface MessageRounds {
  /** Messages travel in rounds 0 to `rounds - 1`. */
  readonly rounds: number
  /** Round of every send and receive; -1 for copies and combinations. Length: operations. */
  readonly ofOperation: Int32Array
}

/**
 * The round in which every message travels, so that processes can proceed round by round: what a rank sends in round i it
 * holds from the start or received in earlier rounds. When every message is sent and received in the
 * same phase, rounds are phases. Otherwise a rank enters its next phase in the round after the last of this phase's
 * messages, and a message travels in the round in which its sender enters the phase of the send.
 *
 * @throws ERR_SCHEDULE when a message has only one end or ranks wait for each other: verify the schedule.
 */
export function messageRounds(schedule: Schedule): MessageRounds {
  const { phases, opPeer, opPhase } = schedule
  const ranks = rankOfOperations(schedule)
  const partner = pairMessages(schedule, ranks)
  const ofOperation = new Int32Array(opPeer.length).fill(-1)
  let isAligned = true
  for (let op = 0; op < opPeer.length; op++) {
    if (!isMessage(schedule, op)) continue
    const other = partner[op]
    if (other === -1) {
      const rank = ranks[op]
      throw new RankweaveError(
        'ERR_SCHEDULE',
        `rank ${rank} and rank ${opPeer[op]} do not agree on a message: verify the schedule before lowering it`,
        { details: { rank, peer: opPeer[op] } },
      )
    }
    ofOperation[op] = opPhase[op]
    if (opPhase[op] !== opPhase[other]) isAligned = false
  }
  if (isAligned) return { rounds: phases, ofOperation }

  const rows = phaseRows(schedule)
  const entered = roundsOfRows(schedule, rows, partner)
  let rounds = 0
  for (let op = 0; op < opPeer.length; op++) {
    if (ofOperation[op] === -1) continue
    const send = schedule.opKind[op] === opKind.send ? op : partner[op]
    ofOperation[op] = entered[rows.ofOperation[send]]
    rounds = Math.max(rounds, ofOperation[op] + 1)
  }
  return { rounds, ofOperation }
}

/**
 * Every message in the round of its phase: for schedules that receive every message in the phase in which it is sent.
 * Needs no partners, so the operations of some ranks are enough.
 */
export function roundsByPhase(schedule: Schedule): MessageRounds {
  const { phases } = schedule
  const ofOperation = schedule.opPhase.map((phase, op) => (isMessage(schedule, op) ? phase : -1))
  return { rounds: phases, ofOperation }
}

/** The round in which every rank enters every phase: longest paths, in topological order. */
function roundsOfRows(schedule: Schedule, rows: PhaseRows, partner: Int32Array): Int32Array {
  const { opStart, rank, ofOperation } = rows
  const count = rank.length
  const entered = new Int32Array(count)
  const isFirst = (row: number): boolean => row === 0 || rank[row - 1] !== rank[row]
  const isLast = (row: number): boolean => row + 1 === count || rank[row + 1] !== rank[row]
  // A row waits for its rank's row before it and for the senders of what that one receives.
  const waits = new Int32Array(count)
  const ready: number[] = []
  for (let row = 0; row < count; row++) {
    if (isFirst(row)) {
      ready.push(row)
      continue
    }
    waits[row] = 1
    for (let op = opStart[row - 1]; op < opStart[row]; op++) {
      if (schedule.opKind[op] === opKind.receive) waits[row]++
    }
  }
  const settle = (row: number, round: number): void => {
    entered[row] = Math.max(entered[row], round + 1)
    if (--waits[row] === 0) ready.push(row)
  }
  for (let done = 0; done < ready.length; done++) {
    const row = ready[done]
    if (!isLast(row)) settle(row + 1, entered[row])
    for (let op = opStart[row]; op < opStart[row + 1]; op++) {
      if (schedule.opKind[op] !== opKind.send) continue
      const receiver = ofOperation[partner[op]]
      if (!isLast(receiver)) settle(receiver + 1, entered[row])
    }
  }
  if (ready.length < count) {
    throw new RankweaveError(
      'ERR_SCHEDULE',
      'ranks wait for each other: verify the schedule before lowering it',
    )
  }
  return entered
}
