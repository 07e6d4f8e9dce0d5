import { RankweaveError } from '../../errors.js'
import { opKind, type Schedule } from '../ir.js'
import { pairMessages } from '../message-pairs.js'
import { rowOfOperations } from '../walk.js'

export interface MessageRounds {
  /** Messages travel in rounds 0 to `rounds - 1`. */
  readonly rounds: number
  /** Round of every send and receive; -1 for copies. Length: operations. */
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
  const { phases, opPeer } = schedule
  const rows = rowOfOperations(schedule)
  const partner = pairMessages(schedule, rows)
  const ofOperation = new Int32Array(opPeer.length).fill(-1)
  let isAligned = true
  for (let op = 0; op < opPeer.length; op++) {
    if (schedule.opKind[op] === opKind.copy) continue
    const other = partner[op]
    if (other === -1) {
      const rank = Math.floor(rows[op] / phases)
      throw new RankweaveError(
        'ERR_SCHEDULE',
        `rank ${rank} and rank ${opPeer[op]} do not agree on a message: verify the schedule before lowering it`,
        { details: { rank, peer: opPeer[op] } },
      )
    }
    ofOperation[op] = rows[op] % phases
    if (ofOperation[op] !== rows[other] % phases) isAligned = false
  }
  if (isAligned) return { rounds: phases, ofOperation }

  const entered = roundsOfRows(schedule, rows, partner)
  let rounds = 0
  for (let op = 0; op < opPeer.length; op++) {
    if (ofOperation[op] === -1) continue
    const send = schedule.opKind[op] === opKind.send ? op : partner[op]
    ofOperation[op] = entered[rows[send]]
    rounds = Math.max(rounds, ofOperation[op] + 1)
  }
  return { rounds, ofOperation }
}

/**
 * Every message in the round of its phase: for schedules that receive every message in the phase in which it is sent.
 * Needs no partners, so the operations of some ranks are enough.
 */
export function roundsByPhase(schedule: Schedule): MessageRounds {
  const { opKind: kinds, phases } = schedule
  const ofOperation = rowOfOperations(schedule).map((row, op) =>
    kinds[op] === opKind.copy ? -1 : row % phases,
  )
  return { rounds: phases, ofOperation }
}

/** The round in which every rank enters every phase: longest paths, in topological order. */
function roundsOfRows(schedule: Schedule, rows: Int32Array, partner: Int32Array): Int32Array {
  const { opStart, phases } = schedule
  const count = opStart.length - 1
  const entered = new Int32Array(count)
  // Row (r, f + 1) waits for row (r, f) and for the senders of what r receives in phase f.
  const waits = new Int32Array(count)
  for (let row = 0; row < count; row++) {
    if (row % phases === 0) continue
    waits[row] = 1
    for (let op = opStart[row - 1]; op < opStart[row]; op++) {
      if (schedule.opKind[op] === opKind.receive) waits[row]++
    }
  }
  const ready: number[] = []
  for (let row = 0; row < count; row += phases) ready.push(row)
  const settle = (row: number, round: number): void => {
    entered[row] = Math.max(entered[row], round + 1)
    if (--waits[row] === 0) ready.push(row)
  }
  for (let done = 0; done < ready.length; done++) {
    const row = ready[done]
    if (row % phases < phases - 1) settle(row + 1, entered[row])
    for (let op = opStart[row]; op < opStart[row + 1]; op++) {
      if (schedule.opKind[op] !== opKind.send) continue
      const receiver = rows[partner[op]]
      if (receiver % phases < phases - 1) settle(receiver + 1, entered[row])
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
