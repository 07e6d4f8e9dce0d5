import { bytesOption } from '../base/option.js'
import { wrongValue } from '../errors.js'
import type { Collective } from '../schedule/specification.js'
import { settingLine, type TuningSetting } from '../tuning/settings/setting.js'
import { callLimits, type TuningCall } from '../tuning/settings/tuning-call.js'
import type { Meter } from './meter.js'

/**
 * Returns a meter that measures some settings only. A text names an algorithm, with all values of its parameters, or
 * one setting.
 *
 * @param texts such as `bcast-chain` or `bcast-chain:fanout=4,segment=8KiB`; null for all settings
 */
export function restrictedTo(meter: Meter, texts: readonly string[] | null): Meter {
  if (texts === null) return meter
  const lines = texts.map(lineOf)
  return {
    ...meter,
    settings: (call) => meter.settings(call).filter((setting) => isNamed(setting, lines)),
  }
}

/**
 * Checks the restriction of a meter against the calls that are to be measured.
 *
 * @returns the texts of algorithms that serve none of the calls, if others do
 * @throws ERR_MEASUREMENT for a text that names no algorithm of these collectives, or a setting that is not measured at
 *   any of the calls, and if no text serves a call
 */
export function requireNamed(
  meter: Pick<Meter, 'algorithms' | 'settings'>,
  texts: readonly string[] | null,
  calls: readonly TuningCall[],
): readonly string[] {
  if (texts === null) return []
  const collectives = [...new Set(calls.map(({ collective }) => collective))]
  requireAlgorithms(meter.algorithms, texts, collectives)
  const settings = calls.flatMap((call) => meter.settings(call))
  const idle = texts.filter((text) => {
    const ofAlgorithm = settings.filter(({ algorithm }) => algorithm === algorithmOfText(text))
    if (ofAlgorithm.length > 0 && !ofAlgorithm.some((setting) => isNamed(setting, [lineOf(text)]))) {
      const lines = [...new Set(ofAlgorithm.map(settingLine))].join(', ')
      throw wrongValue('ERR_MEASUREMENT', `expected settings that are measured: ${lines}`, text)
    }
    return ofAlgorithm.length === 0
  })
  if (idle.length < texts.length) return idle
  const expected = 'expected algorithms that serve a call of the grid'
  throw wrongValue('ERR_MEASUREMENT', expected, idle.join(', '))
}

/** @throws ERR_MEASUREMENT for a text that names no algorithm of these collectives */
export function requireAlgorithms(
  algorithmsOf: Meter['algorithms'],
  texts: readonly string[],
  collectives: readonly Collective[],
): void {
  const known = new Map(collectives.map((collective) => [collective, algorithmsOf(collective)]))
  const isKnown = (name: string) => [...known.values()].some((names) => names.includes(name))
  const other = texts.find((text) => !isKnown(algorithmOfText(text)))
  if (other === undefined) return
  const names = [...known].map(([collective, algorithms]) => `of ${collective}: ${algorithms.join(', ')}`)
  throw wrongValue('ERR_MEASUREMENT', `expected algorithms ${names.join('; ')}`, other)
}

function algorithmOfText(text: string): string {
  return text.split(':', 1)[0]
}

const length = bytesOption({ least: 0, most: callLimits.bytes })

/** Returns a text as {@link settingLine} writes it. */
function lineOf(text: string): string {
  const colon = text.indexOf(':')
  if (colon < 0) return text
  const parameters = text.slice(colon + 1).split(',')
  const values = parameters.map((parameter) => {
    const [name, value = ''] = parameter.split('=', 2)
    return [name, length.parse(value) ?? value].join('=')
  })
  return `${text.slice(0, colon)}:${values.sort().join(',')}`
}

function isNamed(setting: TuningSetting, lines: readonly string[]): boolean {
  return lines.includes(setting.algorithm) || lines.includes(settingLine(setting))
}
