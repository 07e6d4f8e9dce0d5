import { bestEntry, entryOf, type MeasuredData } from './measured-data.js'
import type { SettingSelector } from './selector.js'

/**
 * The penalties of every setting at every call, such that sums over calls are added and subtracted. A call that joins a
 * sum costs as many steps as it has times, whatever the number of settings.
 *
 * Memory: 16 bytes a call and 8 bytes a time.
 */
export interface PenaltyTable {
  readonly data: MeasuredData
  /** The penalty of settings without a time, by call: that of the default, or {@link unknownPenalty}. */
  readonly withoutTime: Float64Array
  /** The penalty of the setting, by entry, as a share of the best time: 0.5 is half as long again. */
  readonly penalty: Float64Array
}

/** The penalty of a decision without a time: far more than that of any time worth considering. */
const unknownPenalty = 1e6

/** @param fallback decides when a setting has no time. Default: nothing does. */
export function penaltyTable(data: MeasuredData, fallback: SettingSelector = () => -1): PenaltyTable {
  const { calls, rowStart, timeUs } = data
  const withoutTime = new Float64Array(calls.length)
  const penalty = new Float64Array(timeUs.length)
  calls.forEach((call, row) => {
    const bestUs = timeUs[bestEntry(data, row)]
    for (let entry = rowStart[row]; entry < rowStart[row + 1]; entry++)
      penalty[entry] = timeUs[entry] / bestUs - 1
    const entry = entryOf(data, row, fallback(call))
    withoutTime[row] = entry < 0 ? unknownPenalty : penalty[entry]
  })
  return { data, withoutTime, penalty }
}

/** The sums of penalties over some calls, by setting. */
export class PenaltySums {
  readonly #table: PenaltyTable
  /** The sum of a setting without a time in any of these calls. */
  #withoutTime = 0
  /** The difference of each setting's sum from that. */
  readonly #difference: Float64Array

  constructor(table: PenaltyTable, rows: Iterable<number> = []) {
    this.#table = table
    this.#difference = new Float64Array(table.data.settings.length)
    for (const row of rows) this.add(row)
  }

  add(row: number): void {
    this.#count(row, 1)
  }

  remove(row: number): void {
    this.#count(row, -1)
  }

  of(setting: number): number {
    return this.#withoutTime + this.#difference[setting]
  }

  /** Returns the setting of the least sum, of equal ones the lowest. */
  least(): number {
    let least = 0
    for (let i = 1; i < this.#difference.length; i++)
      if (this.#difference[i] < this.#difference[least]) least = i
    return least
  }

  #count(row: number, times: 1 | -1): void {
    const { data, withoutTime, penalty } = this.#table
    const { rowStart, setting } = data
    this.#withoutTime += times * withoutTime[row]
    for (let entry = rowStart[row]; entry < rowStart[row + 1]; entry++)
      this.#difference[setting[entry]] += times * (penalty[entry] - withoutTime[row])
  }
}
