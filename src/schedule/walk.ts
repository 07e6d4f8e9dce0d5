import { rangeAt } from '../base/search.js'
import { wrongValue } from '../errors.js'
import { opKind, type Schedule } from './ir.js'
import { requireSchedule } from './require-schedule.js'

type OperationKind = keyof typeof opKind

const kindNames = Object.keys(opKind) as OperationKind[]

export function operationKind(schedule: Schedule, op: number): OperationKind {
  return kindNames[schedule.opKind[op]]
}

/** Whether an operation is a send or a receive. */
export function isMessage(schedule: Schedule, op: number): boolean {
  return schedule.opKind[op] <= opKind.receive
}

/** Returns the phases up to which an operation waits for the messages of its rank; -1 if it waits only for its data. */
export function waitsAfter({ opAfter }: Schedule, op: number): number {
  return opAfter.length === 0 ? -1 : opAfter[op]
}

/** Returns the operations of a rank in all phases: a half-open range. */
export function operationsOfRank(schedule: Schedule, rank: number): readonly [from: number, to: number] {
  return [schedule.opStart[rank], schedule.opStart[rank + 1]]
}

/** Returns the end of the operations from `op` on, before `end`, that are in the same phase. */
export function endOfPhase({ opPhase }: Schedule, op: number, end: number): number {
  let next = op + 1
  while (next < end && opPhase[next] === opPhase[op]) next++
  return next
}

/** Visits every operation by rank, then phase, then list order. @throws ERR_SCHEDULE, ERR_ARGUMENT */
export function forEachOperation(
  schedule: Schedule,
  visit: (op: number, rank: number, phase: number) => void,
): void {
  requireSchedule(schedule)
  if (typeof visit !== 'function')
    throw wrongValue('ERR_ARGUMENT', 'forEachOperation: expected a function', visit)
  const { opStart, opPhase } = schedule
  for (let rank = 0; rank + 1 < opStart.length; rank++) {
    for (let op = opStart[rank]; op < opStart[rank + 1]; op++) visit(op, rank, opPhase[op])
  }
}

/** Returns the rank of every operation. Length: operations. */
export function rankOfOperations({ opStart, opKind: kinds }: Schedule): Int32Array {
  const ranks = new Int32Array(kinds.length)
  for (let rank = 0; rank + 1 < opStart.length; rank++) {
    for (let op = opStart[rank]; op < opStart[rank + 1]; op++) ranks[op] = rank
  }
  return ranks
}

export function rankOfOperation({ opStart }: Schedule, op: number): number {
  return rangeAt(opStart, op)
}

/** The phases of every rank in which it has operations, one row each: by rank, then phase. */
export interface PhaseRows {
  /** The operations of a row: `opStart[row]` up to the next. Length rows + 1. */
  readonly opStart: Int32Array
  readonly rank: Int32Array
  readonly phase: Int32Array
  /** The row of every operation. */
  readonly ofOperation: Int32Array
}

export function phaseRows(schedule: Schedule): PhaseRows {
  const { opStart, opPhase } = schedule
  const ofOperation = new Int32Array(opPhase.length)
  let rows = 0
  forEachPhase(schedule, (_, op, end) => ofOperation.fill(rows++, op, end))
  const start = new Int32Array(rows + 1)
  const rank = new Int32Array(rows)
  const phase = new Int32Array(rows)
  let row = 0
  forEachPhase(schedule, (of, op) => {
    start[row] = op
    rank[row] = of
    phase[row++] = opPhase[op]
  })
  start[rows] = opStart[opStart.length - 1]
  return { opStart: start, rank, phase, ofOperation }
}

/** Visits the operations of every rank phase by phase: a half-open range. */
export function forEachPhase(
  schedule: Schedule,
  visit: (rank: number, op: number, end: number) => void,
): void {
  const { opStart } = schedule
  for (let rank = 0; rank + 1 < opStart.length; rank++) {
    for (let op = opStart[rank]; op < opStart[rank + 1]; ) {
      const end = endOfPhase(schedule, op, opStart[rank + 1])
      visit(rank, op, end)
      op = end
    }
  }
}

/** Counts the messages of a schedule, and their blocks once per message that carries them. */
export function countMessages(schedule: Schedule): { readonly messages: number; readonly blocks: number } {
  requireSchedule(schedule)
  let messages = 0
  let blocks = 0
  for (let op = 0; op < schedule.opKind.length; op++) {
    if (schedule.opKind[op] !== opKind.send) continue
    messages++
    blocks += schedule.entryStart[op + 1] - schedule.entryStart[op]
  }
  return { messages, blocks }
}
