import { wrongValue } from '../../errors.js'
import { bestEntry, type MeasuredData } from '../measured/measured-data.js'
import type { TrainingCase } from './training-cases.js'

/**
 * Returns a case for every measured call. A setting may stand for the best if it is at most `tolerancePercent` slower,
 * or its interval reaches into that of the best. So noise makes no rules.
 *
 * Of the admitted settings of a call, the case has the one that is admitted at most calls, of equal ones the lowest.
 *
 * @param tolerancePercent at least 0
 * @throws ERR_ARGUMENT for another tolerance
 * @see Pjesivac-Grbovic 2007 Eq. 5.6
 */
export function tolerantCases(data: MeasuredData, tolerancePercent: number): TrainingCase[] {
  if (!(Number.isFinite(tolerancePercent) && tolerancePercent >= 0))
    throw wrongValue('ERR_ARGUMENT', 'expected tolerancePercent of at least 0', tolerancePercent)
  const admitted = data.calls.map((_, row) => admittedSettings(data, row, 1 + tolerancePercent / 100))
  const counts = new Int32Array(data.settings.length)
  for (const settings of admitted) for (const setting of settings) counts[setting]++
  return data.calls.map((call, row) => {
    const setting = admitted[row].reduce((most, other) => (counts[other] > counts[most] ? other : most))
    return { call, setting }
  })
}

function admittedSettings(data: MeasuredData, row: number, factor: number): readonly number[] {
  const { rowStart, setting, timeUs, lowUs, highUs } = data
  const best = bestEntry(data, row)
  const settings: number[] = []
  for (let entry = rowStart[row]; entry < rowStart[row + 1]; entry++) {
    if (timeUs[entry] <= timeUs[best] * factor || lowUs[entry] <= highUs[best]) settings.push(setting[entry])
  }
  return settings
}
