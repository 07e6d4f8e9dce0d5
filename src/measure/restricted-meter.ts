import { settingLine, type TuningSetting } from '../tuning/setting.js'
import type { Meter } from './meter.js'

/**
 * A meter that measures some settings only: a text names an algorithm, with all that it is tried at, or one setting.
 *
 * @param texts such as `bcast-chain` or `bcast-chain:fanout=4,segment=8192`; null for all settings
 */
export function restrictedTo(meter: Meter, texts: readonly string[] | null): Meter {
  if (texts === null) return meter
  return {
    ...meter,
    settings: (call) => meter.settings(call).filter((setting) => isNamed(setting, texts)),
  }
}

function isNamed(setting: TuningSetting, texts: readonly string[]): boolean {
  return texts.includes(setting.algorithm) || texts.includes(settingLine(setting))
}
