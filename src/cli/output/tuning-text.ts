import type { LearnedDecisions } from '../../tuning/learning/learn-decisions.js'
import type { PenaltyReport } from '../../tuning/measured/penalty.js'
import { callText } from '../../tuning/settings/tuning-call.js'
import { columns, counted } from './reporter.js'

/** What was learned, and what it loses, as lines of text. */
export function tuningText(learned: readonly LearnedDecisions[]): string {
  return learned.map(collectiveText).join('\n\n')
}

function collectiveText({ collective, data, leaves, ...penalties }: LearnedDecisions): string {
  const { training, heldOut, default: byDefault } = penalties
  const counts = [
    counted(data.calls.length, 'call', 'calls'),
    counted(data.settings.length, 'setting', 'settings'),
    counted(leaves, 'leaf', 'leaves'),
  ]
  const rows: readonly (readonly [name: string, report: PenaltyReport | null])[] = [
    ['training set', training],
    [
      heldOut === null ? 'held-out points' : `held-out points, ${heldOut.folds.length} folds`,
      heldOut?.heldOut ?? null,
    ],
    ['default', byDefault],
  ]
  const head = ['penalty', 'min', 'mean', 'median', 'max', 'missing']
  const table = columns([head, ...rows.map(([name, report]) => [name, ...penaltyCells(report)])])
  const worst = heldOut?.heldOut.worst ?? training.worst
  const where = worst === null ? '' : `\n  most is lost at ${callText(worst)}`
  const decided = heldOut?.heldOut ?? training
  const isWorse = byDefault !== null && decided.meanPercent > byDefault.meanPercent
  const warning = isWorse ? `\n  the tree loses more than the default: ${remedy}` : ''
  return `${collective}: ${counts.join(', ')}\n${table}${where}${warning}`
}

/** What helps where times are noisy, or calls are few. */
const remedy = 'measure more calls, for longer'

function penaltyCells(report: PenaltyReport | null): string[] {
  if (report === null) return ['-', '-', '-', '-', '-']
  const { minPercent, meanPercent, medianPercent, maxPercent, missing } = report
  const percent = (value: number) => (Number.isNaN(value) ? '-' : `${value.toFixed(1)}%`)
  return [...[minPercent, meanPercent, medianPercent, maxPercent].map(percent), String(missing)]
}

/** The same as plain data. */
export function tuningOutcome(learned: readonly LearnedDecisions[]) {
  return learned.map(({ collective, data, leaves, training, heldOut, default: byDefault }) => ({
    ...{ collective, calls: data.calls.length, settings: data.settings.length, leaves, training },
    heldOut:
      heldOut === null
        ? null
        : { ...heldOut.heldOut, folds: heldOut.folds.map(({ processes }) => processes) },
    default: byDefault,
  }))
}
