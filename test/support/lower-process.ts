import type { Schedule } from '../../src/schedule/ir.js'
import { lowerInRounds } from '../../src/schedule/lower/lower.js'
import { requirePlacement } from '../../src/schedule/lower/lowering-context.js'
import type { ProcessProgram } from '../../src/schedule/lower/program.js'
import { messageRounds } from '../../src/schedule/lower/rounds.js'
import { requireSchedule } from '../../src/schedule/require-schedule.js'

/** The program of one process, from the schedule and the placement alone. @throws ERR_PLACEMENT, ERR_SCHEDULE */
export function lowerProcess(schedule: Schedule, placement: Int32Array, process: number): ProcessProgram {
  requireSchedule(schedule)
  requirePlacement(placement)
  return lowerInRounds(schedule, placement, process, messageRounds(schedule))
}
