import type { ChoiceReport, ModelComparison } from '../../tuning/measured/compare-models.js'
import { callText } from '../../tuning/settings/tuning-call.js'
import { columns, counted, figure, significant } from './reporter.js'

/** The most times that are printed; `--json` and the page have all. */
const mostShown = 60

/** Returns the text of `rankweave models --compare`: a row per predictor, then a row per time. */
export function comparisonText(
  { source, predictors, vote, times }: ModelComparison,
  predictedFor: string,
): string {
  const calls = new Set(times.map(({ call }) => callText(call))).size
  const summary = [
    ['', 'times', 'median error', 'largest', 'predicted / measured', 'winner', 'mean penalty', 'largest'],
    ...predictors.map((one) => [
      ...[one.predictor, figure(one.times), percent(one.medianError), percent(one.maxError)],
      ...[ratio(one.medianRatio), ...choiceCells(one)],
    ]),
    ['vote', '', '', '', '', ...choiceCells(vote)],
  ]
  const names = predictors.map(({ predictor }) => predictor)
  const rows = times
    .slice(0, mostShown)
    .map((time) => [
      `${callText(time.call)}: ${time.setting}${time.isBest ? ' *' : ''}`,
      microseconds(time.measuredUs),
      ...names.map((name) => microseconds(time.predictedUs[name] ?? null)),
    ])
  const left = times.length - rows.length
  return [
    `${counted(times.length, 'time', 'times')} of ${counted(calls, 'call', 'calls')}: ${source.kind} ${source.name}, ${source.machine}`,
    `predicted: ${predictedFor}`,
    columns(summary),
    '',
    columns([['us; * fastest measured', 'measured', ...names], ...rows]),
    ...(left === 0 ? [] : [`  and ${figure(left)} more: -o FILE.html and --json have all`]),
  ].join('\n')
}

function choiceCells({ winners, calls, meanPenaltyPercent, maxPenaltyPercent }: ChoiceReport): string[] {
  const penalties = [percent(meanPenaltyPercent / 100), percent(maxPenaltyPercent / 100)]
  return [`${figure(winners)} of ${figure(calls)}`, ...penalties]
}

function microseconds(timeUs: number | null): string {
  return timeUs === null ? '–' : timeUs.toFixed(1)
}

function percent(share: number): string {
  return Number.isNaN(share) ? '–' : `${(100 * share).toFixed(1)}%`
}

function ratio(value: number): string {
  return Number.isNaN(value) ? '–' : significant(value)
}
