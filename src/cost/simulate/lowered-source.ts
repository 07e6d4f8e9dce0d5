import { shown } from '../../errors.js'
import type { Schedule } from '../../schedule/ir.js'
import { lower } from '../../schedule/lower/lower.js'
import type { LoweredSchedule } from '../../schedule/lower/program.js'
import { requireSchedule } from '../../schedule/require-schedule.js'
import { upTo } from '../../schedule/specification.js'
import { type BytesOf, failSimulation, lengthsOfBlocks, lengthsOfUnits } from './block-lengths.js'

/** Programs, and the lengths of the blocks that they move. */
export interface LoweredSource {
  readonly lowered: LoweredSchedule
  readonly bytesOf: BytesOf
}

/**
 * Returns the programs to simulate: those of a schedule lowered to a placement, or of one that was lowered before.
 *
 * @param bytes of every unit of data, or of every block, by number
 * @param placement default: one process per rank
 * @throws ERR_SIMULATION for bytes and for an invalid schedule; ERR_PLACEMENT, ERR_SCHEDULE as `lower` does
 */
export function loweredSource(
  source: Schedule | LoweredSchedule,
  bytes: number | ArrayLike<number>,
  placement: Int32Array | undefined,
): LoweredSource {
  if (typeof source !== 'object' || source === null || !('programs' in source || 'specification' in source))
    failSimulation(`expected a schedule, got ${shown(source)}`)
  if (typeof bytes !== 'number' && typeof Object(bytes).length !== 'number')
    failSimulation(`bytes: expected a number, or one per block, got ${shown(bytes)}`)
  const schedule = 'programs' in source ? source.schedule : source
  requireSchedule(schedule)
  const { specification } = schedule
  const bytesOf =
    typeof bytes === 'number' ? lengthsOfUnits(specification, bytes) : lengthsOfBlocks(specification, bytes)
  if ('programs' in source && placement !== undefined)
    failSimulation('placement: expected none with a schedule that has been lowered to one')
  const lowered = 'programs' in source ? source : lower(source, placement ?? upTo(specification.ranks))
  return { lowered, bytesOf }
}
