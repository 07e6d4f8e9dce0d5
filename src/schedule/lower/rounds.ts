import { firstNotBelow } from '../../base/search.js'
import { RankweaveError } from '../../errors.js'
import { opKind, type Schedule } from '../ir.js'
import { pairMessages } from '../message-pairs.js'
import { isMessage, type PhaseRows, phaseRows, rankOfOperations } from '../walk.js'

export interface MessageRounds {
  /** The number of rounds in which messages travel. */
  readonly rounds: number
  /** The round of every operation; copies and combinations follow the receives of their round. Length: operations. */
  readonly ofOperation: Int32Array
  /** The result of `pairMessages`; null if it was not called. */
  readonly partner: Int32Array | null
}

/**
 * Returns the round in which every message travels, so that processes can proceed round by round: the data that a rank
 * sends in round i are there from the start or from earlier rounds. When every message is sent and received in the same
 * phase, rounds are phases. Otherwise a rank enters its next phase in the round after the last of this phase's
 * messages. A message travels in the round in which its sender enters the phase of the send.
 *
 * @throws ERR_SCHEDULE when a message has only one end or ranks wait for each other: verify the schedule.
 */
export function messageRounds(schedule: Schedule): MessageRounds {
  const { phases, opPeer, opPhase } = schedule
  const ranks = rankOfOperations(schedule)
  const partner = pairMessages(schedule, ranks)
  let isAligned = true
  for (let op = 0; op < opPeer.length; op++) {
    if (!isMessage(schedule, op)) continue
    const other = partner[op]
    if (other === -1) {
      const rank = ranks[op]
      const message = `rank ${rank} and rank ${opPeer[op]} do not agree on a message: verify the schedule before lowering it`
      throw new RankweaveError('ERR_SCHEDULE', message, { details: { rank, peer: opPeer[op] } })
    }
    if (opPhase[op] !== opPhase[other]) isAligned = false
  }
  if (isAligned) return { rounds: phases, ofOperation: opPhase, partner }

  const rows = phaseRows(schedule)
  const entered = roundsOfRows(schedule, rows, partner)
  const ofOperation = new Int32Array(opPeer.length)
  let rounds = 0
  for (let row = 0; row < rows.rank.length; row++) {
    let last = entered[row]
    for (let op = rows.opStart[row]; op < rows.opStart[row + 1]; op++) {
      const isReceive = schedule.opKind[op] === opKind.receive
      ofOperation[op] = isReceive ? entered[rows.ofOperation[partner[op]]] : entered[row]
      last = Math.max(last, ofOperation[op])
    }
    for (let op = rows.opStart[row]; op < rows.opStart[row + 1]; op++) {
      if (!isMessage(schedule, op)) ofOperation[op] = last
    }
    rounds = Math.max(rounds, last + 1)
  }
  return { rounds, ofOperation, partner }
}

/**
 * Puts every operation in the round of its phase. The schedule must receive every message in the phase in which it is
 * sent. The operations of some ranks suffice.
 */
export function roundsByPhase(schedule: Schedule): MessageRounds {
  const { phases, opPhase } = schedule
  return { rounds: phases, ofOperation: opPhase, partner: null }
}

/**
 * Returns the round up to which every message waits for those of its process, -1 if it waits only for its data. Length:
 * operations; 0 in a schedule in which none waits.
 *
 * It is below the round of the message, so waits of processes form no cycle. A receive of a late phase may travel in an
 * early round: it waits for the rounds before that one.
 */
export function roundsAwaited(schedule: Schedule, { ofOperation }: MessageRounds): Int32Array {
  const { opAfter, opPhase, opStart } = schedule
  if (opAfter.length === 0 || ofOperation === opPhase) return opAfter
  const awaited = new Int32Array(opAfter.length).fill(-1)
  /** The last round of a rank's messages up to each operation. */
  const lastRound = new Int32Array(opAfter.length)
  for (let rank = 0; rank + 1 < opStart.length; rank++) {
    let last = -1
    for (let op = opStart[rank]; op < opStart[rank + 1]; op++) {
      if (isMessage(schedule, op)) last = Math.max(last, ofOperation[op])
      lastRound[op] = last
      if (opAfter[op] < 0) continue
      const end = firstNotBelow(opPhase, opAfter[op] + 1, opStart[rank], op)
      if (end > opStart[rank]) awaited[op] = Math.min(lastRound[end - 1], ofOperation[op] - 1)
    }
  }
  return awaited
}

/** Returns the round in which every rank enters every phase: longest paths, in topological order. */
function roundsOfRows(schedule: Schedule, rows: PhaseRows, partner: Int32Array): Int32Array {
  const { opStart, rank, ofOperation } = rows
  const count = rank.length
  const entered = new Int32Array(count)
  const isFirst = (row: number): boolean => row === 0 || rank[row - 1] !== rank[row]
  const isLast = (row: number): boolean => row + 1 === count || rank[row + 1] !== rank[row]
  // A row waits for its rank's row before it and for the senders of the messages that that row receives.
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
    const message = 'ranks wait for each other: verify the schedule before lowering it'
    throw new RankweaveError('ERR_SCHEDULE', message)
  }
  return entered
}
