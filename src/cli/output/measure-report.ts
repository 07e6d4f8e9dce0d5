import type { WrongPoint } from '../../measure/measure-calls.js'
import type { MeasuredPoints } from '../../measure/measure-into.js'
import type { GuidelineViolation } from '../../tuning/check-guidelines.js'
import type { MeasuredData } from '../../tuning/measured-data.js'
import { settingLine } from '../../tuning/setting.js'
import { callText, type TuningCall } from '../../tuning/tuning-call.js'
import { columns, counted, figure, table } from './reporter.js'

const progressMs = 1000

/** What reports each call that is measured, at most one line a second. */
export function progressLines(
  write: (line: string) => void,
  now: () => number = () => performance.now(),
): (call: TuningCall, settings: number, done: number, calls: number) => void {
  let shownMs = Number.NEGATIVE_INFINITY
  return (call, settings, done, calls) => {
    if (now() - shownMs < progressMs) return
    shownMs = now()
    write(`call ${done + 1} of ${calls}: ${callText(call)}, ${counted(settings, 'setting', 'settings')}`)
  }
}

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
    ['next', `rankweave measure --check ${file}`],
  ])
}

export function wrongText({ call, setting }: WrongPoint): string {
  return `wrong result, not measured: ${settingLine(setting)}, ${callText(call)}`
}

/** Of one violation, for `--json`. */
export function violationObject({ settings }: MeasuredData, violation: GuidelineViolation): object {
  const line = (index: number) => settingLine(settings[index])
  const { setting, remedy, ...rest } = violation
  return {
    ...rest,
    setting: line(setting),
    remedy: remedy === null ? null : { ...remedy, settings: remedy.settings.map(line) },
  }
}

export function violationsText(data: MeasuredData, violations: readonly GuidelineViolation[]): string {
  const calls = counted(data.calls.length, 'call', 'calls')
  if (violations.length === 0) return `${calls}, no guideline is violated`
  const rows = violations.map((violation) => [
    callText(violation.call),
    settingLine(data.settings[violation.setting]),
    violation.guideline,
    `${violation.timeUs.toFixed(1)} us`,
    `${violation.boundUs.toFixed(1)} us`,
    `${violation.factor.toFixed(2)}`,
    remedyText(data, violation),
  ])
  const head = ['call', 'setting', 'guideline', 'time', 'bound', 'factor', 'avoided by']
  return `${calls}, ${counted(violations.length, 'violation', 'violations')}\n${columns([head, ...rows])}`
}

function remedyText({ settings }: MeasuredData, { remedy, by }: GuidelineViolation): string {
  if (remedy === null) return '-'
  const lines = remedy.settings.map((index, i) => {
    const line = settingLine(settings[index])
    return remedy.kind === 'setting' ? line : `${by[i].collective} of ${by[i].bytes} B by ${line}`
  })
  return `${remedy.kind}: ${lines.join(' + ')}`
}
