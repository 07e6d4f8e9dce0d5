import { wrongValue } from '../../errors.js'
import { settingLine, type TuningSetting } from '../settings/setting.js'
import type { Measurement } from './measurement.js'

/**
 * Returns measurements without those of some settings. A text names an algorithm, or its settings with such parameters,
 * whatever the other parameters are. The measured parameters depend on the number of processes, so a text may name a
 * value that was not measured ({@link unmeasuredTexts}).
 *
 * @param texts such as `knomial` or `knomial:radix=2`
 * @throws ERR_MEASUREMENT for a text that names no measured algorithm with such parameters, and if nothing is left
 */
export function withoutSettings(
  measurements: readonly Measurement[],
  texts: readonly string[],
): readonly Measurement[] {
  const other = texts.find((text) => !measurements.some((one) => hasNames(text, one)))
  if (other !== undefined) {
    const lines = [...new Set(measurements.map(settingLine))].sort().join(', ')
    throw wrongValue('ERR_MEASUREMENT', `expected measured settings among ${lines}`, other)
  }
  const left = measurements.filter((one) => !texts.some((text) => isIn(text, one)))
  if (left.length > 0 || texts.length === 0) return left
  throw wrongValue('ERR_MEASUREMENT', 'expected settings that leave others to learn from', texts.join(' '))
}

/** Returns the texts of {@link withoutSettings} that leave nothing out. */
export function unmeasuredTexts(
  measurements: readonly Measurement[],
  texts: readonly string[],
): readonly string[] {
  return texts.filter((text) => !measurements.some((one) => isIn(text, one)))
}

interface NamedSettings {
  readonly algorithm: string
  /** The parameters, each as `radix=2`. */
  readonly parameters: readonly string[]
}

function namedSettings(text: string): NamedSettings {
  const colon = text.indexOf(':')
  if (colon < 0) return { algorithm: text, parameters: [] }
  return { algorithm: text.slice(0, colon), parameters: text.slice(colon + 1).split(',') }
}

function isIn(text: string, { algorithm, parameters }: TuningSetting): boolean {
  const named = namedSettings(text)
  const own = Object.entries(parameters).map(([name, value]) => `${name}=${value}`)
  return named.algorithm === algorithm && named.parameters.every((parameter) => own.includes(parameter))
}

/** Returns whether a setting is of the algorithm, and has the parameters, whatever their values are. */
function hasNames(text: string, { algorithm, parameters }: TuningSetting): boolean {
  const named = namedSettings(text)
  const names = named.parameters.map((parameter) => /^(\w+)=\d+$/.exec(parameter)?.[1])
  return (
    named.algorithm === algorithm &&
    names.every((name) => name !== undefined && Object.hasOwn(parameters, name))
  )
}
