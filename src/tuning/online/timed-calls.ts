import type { Collective } from '../../schedule/specification.js'
import type { CallFile } from './call-file.js'
import type { CallRecord } from './call-records.js'
import type { TimedCall } from './learn-grid.js'
import type { NumberedSettings } from './numbered-settings.js'
import { defaultNumber } from './size-times.js'

/** The calls of one run by collective, and the number of those that could not be used. */
export interface RunCalls {
  readonly timed: ReadonlyMap<Collective, readonly TimedCall[]>
  /** The number of calls whose setting is not in the table, or by the default if the table has none. */
  readonly skipped: number
}

/**
 * Returns the calls of a run. The time of a call is the longest that one of its measured processes spent in it, so
 * clocks of two processes are never compared. A call that was left to the default counts as one by it.
 *
 * @param table whose numbers the result has; settings are found by their content, not by the numbers of the run
 * @see Steiner 2023 §4.3
 */
export function timedCalls(file: CallFile, table: NumberedSettings): RunCalls {
  const places = new Map(file.communicators.map((communicator) => [communicator.id, communicator]))
  const calls = new Map<string, { record: CallRecord; timeUs: number }>()
  for (const records of file.records.values())
    for (const record of records) {
      const key = `${record.communicator} ${record.call}`
      const timeUs = record.endUs - record.startUs
      const known = calls.get(key)
      if (known === undefined) calls.set(key, { record, timeUs })
      else known.timeUs = Math.max(known.timeUs, timeUs)
    }
  const numberOf = numbersIn(file, table)
  const timed = new Map<Collective, TimedCall[]>()
  let skipped = 0
  for (const { record, timeUs } of calls.values()) {
    const place = places.get(record.communicator)
    const setting = numberOf(record)
    if (place === undefined || setting === 0) {
      skipped++
      continue
    }
    const { nodes, processesPerNode } = place
    const ofCollective = timed.get(record.collective) ?? []
    ofCollective.push({ setting, bytes: record.bytes, nodes, processesPerNode, timeUs })
    timed.set(record.collective, ofCollective)
  }
  return { timed, skipped }
}

/** Returns a function from the numbers of a run to those of a table. */
function numbersIn(file: CallFile, table: NumberedSettings): (record: CallRecord) => number {
  const lines = new Map<Collective, number[]>()
  for (const setting of file.settings) {
    const ofCollective = lines.get(setting.collective) ?? []
    ofCollective.push(table.numberOf(setting))
    lines.set(setting.collective, ofCollective)
  }
  return ({ collective, setting }) =>
    setting === 0 ? defaultNumber(table.of(collective)) : (lines.get(collective)?.[setting - 1] ?? 0)
}
