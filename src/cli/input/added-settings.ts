import { parseAlgorithm } from '../../collective/algorithm-text.js'
import { wrongValue } from '../../errors.js'
import type { MeasurementSource } from '../../tuning/measured/measurement.js'
import { NumberedSettings, type TuningSetting } from '../../tuning/settings/setting.js'

/**
 * Returns the settings of runs followed by those of `--with`, so that no number changes. Settings that runs already
 * have are not added again.
 *
 * @throws ERR_ARGUMENT for an unknown algorithm; ERR_USAGE for one of a collective without settings, for parameters
 *   that are not integers, and for runs of another library
 */
export function withAdded(
  table: NumberedSettings,
  texts: readonly string[],
  { kind, name }: MeasurementSource,
): NumberedSettings {
  if (texts.length === 0) return table
  if (kind !== 'rankweave')
    throw wrongValue('ERR_USAGE', '--with: expected runs of a world of Rankweave, not simulated ones', name)
  const settings = table.collectives.flatMap((collective) => table.of(collective))
  const added = texts.map((text) => addedSetting(text, table)).filter((one) => table.numberOf(one) === 0)
  return new NumberedSettings([...settings, ...added])
}

function addedSetting(text: string, table: NumberedSettings): TuningSetting {
  const { collective } = parseAlgorithm(text).algorithm
  if (!table.collectives.includes(collective))
    throw wrongValue('ERR_USAGE', `--with: expected an algorithm of ${table.collectives.join(', ')}`, text)
  const [algorithm, values = ''] = text.split(':')
  const parameters: Record<string, number> = {}
  for (const each of values === '' ? [] : values.split(',')) {
    const [name, value] = each.split('=')
    if (name === 'segments' || !/^\d+$/.test(value))
      throw wrongValue('ERR_USAGE', '--with: expected integer parameters, and segment= in bytes', each)
    parameters[name] = Number(value)
  }
  return { collective, algorithm, parameters }
}
