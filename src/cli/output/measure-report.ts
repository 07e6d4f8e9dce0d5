import type { WrongPoint } from '../../measure/measure-calls.js'
import type { MeasuredPoints } from '../../measure/measure-into.js'
import { shellWord } from '../../text/printable.js'
import {
  type GuidelineBase,
  type GuidelineViolation,
  guidelineBaseText,
} from '../../tuning/measured/guidelines.js'
import type { MeasuredData } from '../../tuning/measured/measured-data.js'
import { settingLine } from '../../tuning/settings/setting.js'
import { callText } from '../../tuning/settings/tuning-call.js'
import { counted, figure, table } from './reporter.js'

export interface MeasureOutcome extends MeasuredPoints {
  readonly file: string
  readonly source: object
}

export function measureText({
  file,
  calls,
  measured,
  skipped,
  refused,
  wrong,
  points,
}: MeasureOutcome): string {
  return table([
    ['file', file],
    ['calls', figure(calls)],
    ['measured', counted(measured, 'point', 'points')],
    ['in the file before', skipped === 0 ? null : counted(skipped, 'point', 'points')],
    ['refused', refused === 0 ? null : counted(refused, 'point', 'points')],
    ['wrong', wrong.length === 0 ? null : counted(wrong.length, 'point', 'points')],
    ['points of the file', figure(points)],
    ['next', `rankweave measure --check ${shellWord(file)}`],
  ])
}

export function wrongText({ call, setting }: WrongPoint): string {
  return `wrong result, not measured: ${settingLine(setting)}, ${callText(call)}`
}

export function violationObject({ settings }: MeasuredData, violation: GuidelineViolation): object {
  const line = (index: number) => settingLine(settings[index])
  const { setting, remedy, ...rest } = violation
  return {
    ...rest,
    setting: line(setting),
    remedy: remedy === null ? null : { ...remedy, settings: remedy.settings.map(line) },
  }
}

export function violationsText(
  data: MeasuredData,
  bases: readonly GuidelineBase[],
  violations: readonly GuidelineViolation[],
): string {
  const calls = counted(data.calls.length, 'call', 'calls')
  const checked = bases.map((base) => `  checked of ${guidelineBaseText(base)}`)
  if (violations.length === 0) return [`${calls}, no guideline is violated`, ...checked].join('\n')
  const lines = violations.flatMap((violation) => [
    `  ${violation.factor.toFixed(2)}  ${violationText(data, violation)}`,
    ...remedyLines(data, violation),
  ])
  return [`${calls}, ${counted(violations.length, 'violation', 'violations')}`, ...checked, ...lines].join(
    '\n',
  )
}

function violationText({ settings }: MeasuredData, violation: GuidelineViolation): string {
  const { call, setting, guideline, timeUs, boundUs } = violation
  const what = `${callText(call)}, ${settingLine(settings[setting])}`
  return `${what}: ${timeUs.toFixed(1)} us, bound ${boundUs.toFixed(1)} us (${guideline})`
}

function remedyLines({ settings }: MeasuredData, { remedy, by }: GuidelineViolation): string[] {
  if (remedy === null) return []
  const parts = remedy.settings.map((index, i) => {
    const line = settingLine(settings[index])
    return remedy.kind === 'setting' ? line : `${by[i].collective} of ${by[i].bytes} B, ${line}`
  })
  return [`        avoided by ${remedy.kind}: ${parts.join(' + ')}: ${remedy.timeUs.toFixed(1)} us`]
}
