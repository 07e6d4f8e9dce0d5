import { callKey, type TuningCall } from '../settings/tuning-call.js'
import { bestEntry, type MeasuredData } from './measured-data.js'

/**
 * Chooses the setting of a call: an index into the settings that it was made for, or -1 where it knows none.
 * Pure: equal calls are answered alike.
 */
export type SettingSelector = (call: TuningCall) => number

/** The best setting of every measured call, -1 for all others. Of equal times the lowest setting. */
export function exactSelector(data: MeasuredData): SettingSelector {
  const best = new Map(data.calls.map((call, row) => [callKey(call), data.setting[bestEntry(data, row)]]))
  return (call) => best.get(callKey(call)) ?? -1
}
