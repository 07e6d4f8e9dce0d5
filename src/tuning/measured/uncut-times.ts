import { settingLine, type TuningSetting } from '../settings/setting.js'
import { callKey } from '../settings/tuning-call.js'
import type { Measurement } from './measurement.js'

/**
 * Returns measurements, and those of settings with segments at calls whose data are no longer than a segment. Such
 * calls are carried out without a cut, so the times are those of the same setting without segments.
 *
 * Settings are not measured there. Without these times a leaf would seem to leave such calls to the default.
 *
 * @param measurements of one collective
 */
export function withUncutTimes(measurements: readonly Measurement[]): readonly Measurement[] {
  const cut = new Map<string, TuningSetting[]>()
  for (const measurement of distinctSettings(measurements)) {
    const whole = wholeLine(measurement)
    if (isCut(measurement)) cut.set(whole, [...(cut.get(whole) ?? []), measurement])
  }
  const keyOf = (measurement: Measurement, line: string) => `${callKey(measurement)} ${line}`
  const known = new Set(measurements.map((each) => keyOf(each, settingLine(each))))
  const uncut = measurements.flatMap((measurement) =>
    isCut(measurement)
      ? []
      : (cut.get(wholeLine(measurement)) ?? [])
          .filter(({ parameters }) => parameters['segment'] >= measurement.bytes)
          .filter((setting) => !known.has(keyOf(measurement, settingLine(setting))))
          .map(({ parameters }) => ({ ...measurement, parameters })),
  )
  return [...measurements, ...uncut]
}

function isCut({ parameters }: TuningSetting): boolean {
  return (parameters['segment'] ?? 0) > 0
}

function distinctSettings(measurements: readonly Measurement[]): Iterable<TuningSetting> {
  return new Map(measurements.map((each) => [settingLine(each), each])).values()
}

/** Returns the text of a setting without its segments. */
function wholeLine({ collective, algorithm, parameters }: TuningSetting): string {
  const { segment: _, ...others } = parameters
  return settingLine({ collective, algorithm, parameters: others })
}
