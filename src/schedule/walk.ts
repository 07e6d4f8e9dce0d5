import { opKind, type Schedule } from './ir.js'

export type OperationKind = keyof typeof opKind

const kindNames = Object.keys(opKind) as OperationKind[]

export function operationKind(schedule: Schedule, op: number): OperationKind {
  return kindNames[schedule.opKind[op]]
}

/** Operations of a rank in all phases: a half-open range. */
export function operationsOfRank(schedule: Schedule, rank: number): readonly [from: number, to: number] {
  const { opStart, phases } = schedule
  return [opStart[rank * phases], opStart[(rank + 1) * phases]]
}

/** Operations of a rank in a phase: a half-open range. */
export function operationsOfPhase(
  schedule: Schedule,
  rank: number,
  phase: number,
): readonly [from: number, to: number] {
  const row = rank * schedule.phases + phase
  return [schedule.opStart[row], schedule.opStart[row + 1]]
}

/** Visits every operation by rank, then phase, then list order. */
export function forEachOperation(
  schedule: Schedule,
  visit: (op: number, rank: number, phase: number) => void,
): void {
  const { opStart, phases, topology } = schedule
  for (let rank = 0, row = 0; rank < topology.ranks; rank++) {
    for (let phase = 0; phase < phases; phase++, row++) {
      for (let op = opStart[row]; op < opStart[row + 1]; op++) visit(op, rank, phase)
    }
  }
}

/** The row of every operation, `rank * phases + phase`. Length: operations. */
export function rowOfOperations(schedule: Schedule): Int32Array {
  const { opStart } = schedule
  const rows = new Int32Array(schedule.opKind.length)
  for (let row = 0; row + 1 < opStart.length; row++) rows.fill(row, opStart[row], opStart[row + 1])
  return rows
}

/** The messages of a schedule, and their blocks, counted once per message that carries them. */
export function countMessages(schedule: Schedule): { readonly messages: number; readonly blocks: number } {
  let messages = 0
  let blocks = 0
  for (let op = 0; op < schedule.opKind.length; op++) {
    if (schedule.opKind[op] !== opKind.send) continue
    messages++
    blocks += schedule.entryStart[op + 1] - schedule.entryStart[op]
  }
  return { messages, blocks }
}
