import { opKind, type Schedule } from '../../src/schedule/ir.js'
import { operationsOf, withOperations } from './operation-list.js'
import type { Choose } from './schedule-faults.js'

/** The schedule with waits of some of its messages for phases before theirs. */
export function withWaits<S extends Schedule>(schedule: S, choose: Choose): S {
  const operations = operationsOf(schedule)
  for (const operation of operations) {
    if (operation.kind > opKind.receive || operation.phase === 0 || choose(3) === 0) continue
    operation.after = choose(operation.phase)
  }
  return withOperations(schedule, operations) as S
}
