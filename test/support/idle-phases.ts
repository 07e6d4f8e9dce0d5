import fc from 'fast-check'
import { ScheduleBuilder } from '../../src/schedule/builder.js'
import { opKind, type Schedule } from '../../src/schedule/ir.js'
import { forEachOperation } from '../../src/schedule/walk.js'

/** How many phases in which a rank does nothing precede its phases, in turn. */
export const idlePhases = fc.array(fc.integer({ min: 0, max: 3 }), { minLength: 1, maxLength: 24 })

/**
 * The same operations with idle phases between, as many as each rank likes: messages no longer share phases.
 */
export function withIdlePhases<S extends Schedule>(schedule: S, idle: readonly number[]): S {
  const { entryStart, entryBlock, entryFrom, entryRight, entryTo, opPeer, opTag, opAfter } = schedule
  const phaseOf = (rank: number, phase: number): number => {
    let at = phase
    for (let f = 0; f <= phase; f++) at += idle[(rank * schedule.phases + f) % idle.length]
    return at
  }
  const most = Math.max(0, ...idle)
  const builder = new ScheduleBuilder({ ...schedule, phases: schedule.phases * (most + 1) })
  for (const [rank, places] of schedule.staging.entries()) builder.stage(rank, places)
  forEachOperation(schedule, (op, rank, phase) => {
    const at = phaseOf(rank, phase)
    const kind = schedule.opKind[op]
    if (kind === opKind.send) builder.send(rank, at, opPeer[op], opTag[op])
    else if (kind === opKind.receive) builder.receive(rank, at, opPeer[op], opTag[op])
    else if (kind === opKind.copy) builder.copy(rank, at)
    const after = opAfter[op] ?? -1
    if (after >= 0) builder.after(phaseOf(rank, after))
    for (let e = entryStart[op]; e < entryStart[op + 1]; e++) {
      const [from, to] = [entryFrom[e], entryTo[e]]
      if (kind === opKind.combine) builder.combine(rank, at, ~entryBlock[e], from, entryRight[e], to)
      else builder.add(entryBlock[e], from === -1 ? to : from, to)
    }
  })
  return builder.build() as S
}
