import { callKey, type TuningCall } from '../settings/tuning-call.js'
import { bestEntry, type MeasuredData } from './measured-data.js'

/**
 * A function that chooses the setting of a call: an index into the settings that it was made for, or -1 for none. Pure:
 * equal calls get equal answers.
 */
export type SettingSelector = (call: TuningCall) => number

/** Selects the best setting of every measured call, of equal times the lowest setting; -1 for all others. */
export function exactSelector(data: MeasuredData): SettingSelector {
  const best = new Map(data.calls.map((call, row) => [callKey(call), data.setting[bestEntry(data, row)]]))
  return (call) => best.get(callKey(call)) ?? -1
}
