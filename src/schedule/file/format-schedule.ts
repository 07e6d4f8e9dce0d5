import { requireKnownOptions } from '../../base/known-options.js'
import { type OptionTable, uncheckedOptions } from '../../base/option.js'
import type { Schedule } from '../ir.js'
import { requireSchedule } from '../require-schedule.js'
import { type FormatVersion, requireExpressible, versionFor } from './format-version.js'
import { headerOf } from './header.js'
import { rankLine } from './write-rank-line.js'

export interface FormatOptions {
  /**
   * The version of the format (docs/schedule-format.md). Default: 3 for a schedule in which operations wait, else 2.
   * Version 1 expresses only neighbor allgathers; tools that know no other version read it.
   */
  readonly version?: FormatVersion
}

const knownOptions: OptionTable<FormatOptions> = uncheckedOptions('version')

/**
 * Yields a schedule as JSON Lines, one string per line without its line end: the header, then every rank. It generates
 * rank by rank, so that the text of a large schedule need not fit in memory. Weights of the topology are left out.
 *
 * @throws ERR_SCHEDULE_VERSION when the version cannot express the schedule
 */
export function formatSchedule(
  schedule: Schedule,
  options: FormatOptions = {},
): Generator<string, void, undefined> {
  requireSchedule(schedule)
  requireKnownOptions('formatSchedule', options, knownOptions)
  const { version = versionFor(schedule) } = options
  requireExpressible(schedule, version)
  return linesOf(schedule, version)
}

function* linesOf(schedule: Schedule, version: FormatVersion): Generator<string, void, undefined> {
  yield JSON.stringify(headerOf(schedule, version))
  const { ranks } = schedule.specification
  for (let rank = 0; rank < ranks; rank++) yield rankLine(schedule, rank, version)
}
