import { equalNumbers } from '../../base/search.js'
import { RankweaveError, wrongValue } from '../../errors.js'
import { isNeighborSchedule, opKind, type Schedule } from '../ir.js'
import { neighborAllgatherSpecification } from '../specification.js'

/** The versions of the schedule format that are read and written. */
export const formatVersions = [1, 2, 3] as const
export type FormatVersion = (typeof formatVersions)[number]

/** The version of schedules that need no later one. */
export const currentVersion: FormatVersion = 2

/** Returns the default version of a schedule: waits need version 3. */
export function versionFor({ opAfter }: Schedule): FormatVersion {
  return opAfter.length > 0 ? 3 : currentVersion
}

/** @throws ERR_SCHEDULE_VERSION for a version that cannot be written */
export function requireVersion(version: FormatVersion): void {
  if (formatVersions.includes(version)) return
  const expected = `expected version ${formatVersions.join(', ')} of the schedule format`
  throw wrongValue('ERR_SCHEDULE_VERSION', expected, version)
}

/**
 * Checks that a version of the format can express a schedule: version 1 has only neighbor allgathers of one block per
 * rank over a topology, without combinations and partial results; only version 3 has waits.
 *
 * @throws ERR_SCHEDULE_VERSION with the reason, and for versions that cannot be written
 */
export function requireExpressible(schedule: Schedule, version: FormatVersion): void {
  requireVersion(version)
  if (version < 3 && schedule.opAfter.length > 0) {
    const message = `version ${version} of the schedule format knows no operations that wait: write version 3`
    throw new RankweaveError('ERR_SCHEDULE_VERSION', message)
  }
  const obstacle = version === 1 ? obstacleToVersion1(schedule) : null
  if (obstacle === null) return
  throw new RankweaveError(
    'ERR_SCHEDULE_VERSION',
    `version 1 of the schedule format expresses neighbor allgathers of a topology only, got ${obstacle}`,
  )
}

function obstacleToVersion1(schedule: Schedule): string | null {
  const { collective } = schedule.specification
  if (collective !== 'neighbor-allgather') return `the collective ${collective}`
  if (!isNeighborSchedule(schedule)) return 'a schedule without a topology'
  if (schedule.opKind.includes(opKind.combine)) return 'a combination'
  if (schedule.entryBlock.some((block) => block < 0)) return 'a partial result'
  const given = schedule.specification
  const expected = neighborAllgatherSpecification(schedule.topology)
  for (const array of ['partStart', 'ownStart', 'ownBlock', 'slotStart', 'slotTerm'] as const) {
    if (!equalNumbers(given[array], expected[array])) return 'a specification other than that of its topology'
  }
  return null
}
