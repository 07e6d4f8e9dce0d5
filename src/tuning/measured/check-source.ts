import { requireKnownOptions } from '../../base/known-options.js'
import { type ErrorCode, wrongValue } from '../../errors.js'
import { isPrintable } from '../../text/printable.js'
import { type MeasurementSource, measurementLimits, sourceKinds } from './measurement.js'

const members: Readonly<Record<keyof MeasurementSource, true>> = { kind: true, name: true, machine: true }

/**
 * Checks a source that came from a file.
 *
 * @param where the file and line, for messages
 * @throws code for a member that is missing, unknown or out of range
 */
export function checkSource(source: unknown, where: string, code: ErrorCode): void {
  requireKnownOptions(`${where}, source`, source, members, code)
  const given = source as Readonly<Record<string, unknown>>
  const { kind } = given
  if (!(sourceKinds as readonly unknown[]).includes(kind))
    throw wrongValue(code, `${where}: expected source.kind among ${sourceKinds.join(', ')}`, kind)
  for (const name of ['name', 'machine']) {
    const text = given[name]
    const most = measurementLimits.sourceCharacters
    if (typeof text === 'string' && text.length <= most && text !== '' && isPrintable(text)) continue
    throw wrongValue(code, `${where}: expected source.${name} as 1 to ${most} printable characters`, text)
  }
}
