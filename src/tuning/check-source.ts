import { requireKnownOptions } from '../base/known-options.js'
import { type ErrorCode, wrongValue } from '../errors.js'
import { type MeasurementSource, measurementLimits, sourceKinds } from './measurement.js'

const members: Readonly<Record<keyof MeasurementSource, true>> = { kind: true, name: true, machine: true }

/** What {@link isSourceName} demands, for messages. */
export const sourceNameExpected = `1 to ${measurementLimits.sourceCharacters} printable characters`

/** Without what changes how the text around it is read: controls, formats such as bidi marks, ends of lines. */
const printable = /^[^\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]+$/u

/** Whether a text can name what was measured, or its machine: it stands in comments and pages. */
export function isSourceName(text: unknown): text is string {
  return typeof text === 'string' && text.length <= measurementLimits.sourceCharacters && printable.test(text)
}

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
    if (isSourceName(given[name])) continue
    throw wrongValue(code, `${where}: expected source.${name} as ${sourceNameExpected}`, given[name])
  }
}
