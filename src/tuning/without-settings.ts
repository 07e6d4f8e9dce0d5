import { wrongValue } from '../errors.js'
import type { Measurement } from './measurement.js'
import { settingLine, type TuningSetting } from './setting.js'

/**
 * Measurements without those of some settings. A text names an algorithm, or its settings with such parameters, whatever
 * the other parameters are.
 *
 * @param texts such as `knomial` or `knomial:radix=2`
 * @throws ERR_MEASUREMENT for a text that names no measured setting, and where nothing is left
 */
export function withoutSettings(
  measurements: readonly Measurement[],
  texts: readonly string[],
): readonly Measurement[] {
  const other = texts.find((text) => !measurements.some((one) => isIn(text, one)))
  if (other !== undefined) {
    const lines = [...new Set(measurements.map(settingLine))].sort().join(', ')
    throw wrongValue('ERR_MEASUREMENT', `expected measured settings among ${lines}`, other)
  }
  const left = measurements.filter((one) => !texts.some((text) => isIn(text, one)))
  if (left.length > 0 || texts.length === 0) return left
  throw wrongValue('ERR_MEASUREMENT', 'expected settings that leave others to learn from', texts.join(' '))
}

function isIn(text: string, { algorithm, parameters }: TuningSetting): boolean {
  const colon = text.indexOf(':')
  if (colon < 0) return text === algorithm
  const named = text.slice(colon + 1).split(',')
  const own = Object.entries(parameters).map(([name, value]) => `${name}=${value}`)
  return text.slice(0, colon) === algorithm && named.every((parameter) => own.includes(parameter))
}
