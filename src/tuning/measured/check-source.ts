import { requireKnownOptions } from '../../base/known-options.js'
import { type ErrorCode, wrongValue } from '../../errors.js'
import { type MeasurementSource, measurementLimits, sourceKinds } from './measurement.js'

const members: Readonly<Record<keyof MeasurementSource, true>> = { kind: true, name: true, machine: true }

/** Without what changes how the text around it is read: controls, formats such as bidi marks, ends of lines. */
export const printableText = /^[^\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]+$/u

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
    if (typeof text === 'string' && text.length <= most && printableText.test(text)) continue
    throw wrongValue(code, `${where}: expected source.${name} as 1 to ${most} printable characters`, text)
  }
}
