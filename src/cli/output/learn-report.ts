import type { Interval } from '../../base/search.js'
import type { Collective } from '../../schedule/specification.js'
import type { CallFile } from '../../tuning/online/call-file.js'
import type { CallGain } from '../../tuning/online/call-gains.js'
import type { TotalRatio } from '../../tuning/online/call-history.js'
import type { LearnedGrid } from '../../tuning/online/learn-grid.js'
import {
  type CallTrend,
  type CollectiveReport,
  type LearningReport,
  reportLimits,
  type TrendPoint,
} from '../../tuning/online/learning-report.js'
import { settingLine } from '../../tuning/settings/setting.js'
import type { TuningCall } from '../../tuning/settings/tuning-call.js'
import { columns, counted, significant } from './reporter.js'

/** The most rows of each table (sizes, settings, iterations), moves of a choice, and columns of probabilities. */
const most = { rows: 12, moves: 5, columns: 5 } as const

/** Returns the progress of learning as lines of text. */
export function learnReportText(report: LearningReport, files: readonly CallFile[], followed?: TuningCall) {
  return [
    clockText(files),
    exploredText(report),
    evaluationText(report),
    ...report.collectives.map((of) => collectiveText(of, followed)),
    intervalsText,
  ].join('\n\n')
}

const intervalsText = `intervals
  of pairs of runs: at least 95%, for the median of their ratios
  of sizes: at least 95%, for the ratio of medians, if calls are independent; those of one run are not quite
  of totals: about 95%, by the normal approximation
  the least of several medians is a little too small, so 'fastest' is a bound`

/** Returns the clocks by name, with the longest step of any run, because each run measures its own. */
function clockText(files: readonly CallFile[]): string {
  const clocks = new Map<string, { runs: number; tickUs: number }>()
  for (const { clock } of files) {
    const { runs, tickUs } = clocks.get(clock.name) ?? { runs: 0, tickUs: 0 }
    clocks.set(clock.name, { runs: runs + 1, tickUs: Math.max(tickUs, clock.tickUs) })
  }
  const texts = [...clocks]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, { runs, tickUs }]) => {
      if (tickUs === 0) return name
      const step = `${significant(tickUs)} us a tick`
      return runs === 1 ? `${name}, ${step}` : `${name}, at most ${step} in ${counted(runs, 'run', 'runs')}`
    })
  const left = texts.length - most.rows
  return `clock: ${texts.slice(0, most.rows).join('; ')}${left > 0 ? `; and ${counted(left, 'other', 'others')}` : ''}`
}

function exploredText({ iterations, explored }: LearningReport): string {
  if (iterations.length === 0) return 'no run has explored'
  const first = Math.max(0, iterations.length - most.rows)
  const rows = iterations
    .map(({ runs, calls, cost }, i) => [String(i + 1), String(runs), String(calls), totalText(cost)])
    .slice(first)
  const left = first > 0 ? [`  and ${counted(first, 'iteration', 'iterations')} before`] : []
  const head = `exploring: ${totalText(explored)} times the time by default, in ${counted(explored.calls, 'recorded call', 'recorded calls')}`
  return [head, columns([['iteration', 'runs', 'calls', 'time / default'], ...rows]), ...left].join('\n')
}

function evaluationText({ evaluations }: LearningReport): string {
  if (evaluations.length === 0) return 'no run has evaluated a model'
  const rows = evaluations
    .slice(-most.rows)
    .map(({ after, runs, defaultRuns, pairs, tunedUs, defaultUs, ratio, interval }) => [
      ...[String(after), String(runs), String(defaultRuns), String(pairs), timeText(defaultUs)],
      ...[timeText(tunedUs), ratioText(ratio, interval)],
    ])
  const { sizes } = evaluations.at(-1)!
  const ofSizes = sizes
    .slice(0, most.rows)
    .map(({ call, calls, defaultCalls, defaultOf, defaultUs, tunedUs, ratio, interval }) => [
      ...[`${call.collective} ${sizeText(call)}`, String(calls), `${defaultCalls} ${defaultOf}`],
      ...[timeText(defaultUs), timeText(tunedUs), ratioText(ratio, interval)],
    ])
  const left = sizes.length - ofSizes.length
  return [
    'evaluation, nothing is learned from it: recorded time of runs',
    columns([
      ['after iteration', 'runs', 'by default', 'pairs', 'default', 'tuned', 'tuned / default'],
      ...rows,
    ]),
    '  by size, of the last model',
    columns([['size', 'calls', 'by default', 'default', 'tuned', 'tuned / default'], ...ofSizes]),
    ...(left > 0 ? [`  and ${counted(left, 'size', 'sizes')} with fewer calls`] : []),
  ].join('\n')
}

function collectiveText(of: CollectiveReport, followed: TuningCall | undefined): string {
  const { collective, learned, gains, moreSizes, trends } = of
  const calls = learned.calls.reduce((sum, count) => sum + count, 0)
  const state = learned.grid.isTrained ? 'trained' : 'not trained yet: all settings are tried alike'
  const rows = gains
    .slice(0, most.rows)
    .map(({ call, defaultUs, best, bestUs, ...gain }) => [
      ...[sizeText(call), String(gain.calls), timeText(defaultUs)],
      ...[lineOf(learned, best), timeText(bestUs), ratioText(gain.ratio, gain.interval)],
      ...[lineOf(learned, gain.fastest), ratioText(gain.fastestUs / defaultUs, null)],
    ])
  const left = moreSizes + gains.length - rows.length
  const named = trends.find(({ call }) => call.collective === collective && isSame(call, followed))
  const shown = named ?? trends[0]
  return [
    `${collective}: ${counted(calls, 'call', 'calls')}, ${state}`,
    settingsText(of),
    ...slowText(of),
    '  default, choice of the model, and the setting whose calls were fastest',
    columns([
      ['size', 'calls', 'default', 'model', 'time', 'model / default', 'fastest', 'fastest / default'],
      ...rows,
    ]),
    ...(left > 0 ? [`  and ${counted(left, 'size', 'sizes')} with fewer calls`] : []),
    ...contradictionLines(gains, learned),
    '  choice of the model and its estimated time, by iteration',
    ...trends.map((trend) => `  ${sizeText(trend.call)}: ${movesText(trend, learned)}`),
    ...(shown === undefined ? [] : [probabilitiesText(shown, learned)]),
  ].join('\n')
}

function settingsText({ settings, learned }: CollectiveReport): string {
  const total = settings.reduce((sum, { totalUs }) => sum + totalUs, 0)
  const rows = settings
    .slice(0, most.rows)
    .map(({ number, calls, totalUs }) => [
      ...[lineOf(learned, number), String(calls), timeText(totalUs)],
      `${((100 * totalUs) / total).toFixed(1)}%`,
    ])
  const left = settings.length - rows.length
  const more = left > 0 ? [`  and ${counted(left, 'setting', 'settings')} with less time`] : []
  return [columns([['setting', 'calls', 'time', 'of all'], ...rows]), ...more].join('\n')
}

function slowText({ slow, learned }: CollectiveReport): string[] {
  if (slow.length === 0) return []
  const names = slow.slice(0, most.rows).map(({ number }) => lineOf(learned, number))
  const left = slow.length - names.length
  const more = left > 0 ? `, and ${counted(left, 'other', 'others')}` : ''
  return [
    `  at least twice the time of the fastest in every size, see --without-slower: ${names.join(' ')}${more}`,
  ]
}

/** Returns the changes of a choice, and the present one. */
function movesText({ points }: CallTrend, learned: LearnedGrid): string {
  const moves = points.filter((point, i) => i === 0 || point.best !== points[i - 1].best)
  const last = points.at(-1)
  if (last === undefined || last.best === 0) return 'not known yet'
  const text = ({ after, best, estimatedUs }: TrendPoint) =>
    `${after}: ${lineOf(learned, best)} ${timeText(estimatedUs)}`
  const listed = moves.slice(-most.moves)
  const before = moves.length > listed.length ? [`${moves.length - listed.length} moves before`] : []
  const end = listed.at(-1) === last ? [] : [`${last.after}: the same, ${timeText(last.estimatedUs)}`]
  return [...before, ...listed.map(text), ...end].join('; ')
}

/** Returns the probability of each setting in the runs after an iteration. */
function probabilitiesText({ call, points }: CallTrend, learned: LearnedGrid): string {
  const last = points.at(-1)
  if (last === undefined) return ''
  const order = [...last.next].sort((a, b) => b[1] - a[1] || a[0] - b[0])
  const shown = order.slice(0, most.columns).map(([number]) => number)
  const percent = (share: number) => `${(100 * share).toFixed(1)}%`
  const rows = points.map(({ after, next }) => {
    const shares = shown.map((number) => next.get(number) ?? 0)
    const others = Math.max(0, 1 - shares.reduce((sum, share) => sum + share, 0))
    return [String(after), ...shares.map(percent), percent(next.size === 0 ? 0 : others)]
  })
  const names = shown.map((number) => lineOf(learned, number))
  return [
    `  what runs try after each iteration, for ${sizeText(call)}; the last row comes next`,
    columns([['after', ...names, 'others'], ...rows]),
  ].join('\n')
}

function isSame(call: TuningCall, other: TuningCall | undefined): boolean {
  return other !== undefined && sizeText(call) === sizeText(other)
}

function sizeText({ bytes, nodes, processesPerNode }: TuningCall): string {
  return `${bytes} B on ${nodes} x ${processesPerNode}`
}

function lineOf({ grid }: LearnedGrid, number: number): string {
  return number === 0 ? '-' : settingLine(grid.settings[number - 1])
}

function timeText(timeUs: number): string {
  if (Number.isNaN(timeUs)) return '-'
  return timeUs < 1e5 ? `${significant(timeUs)} us` : `${significant(timeUs / 1000)} ms`
}

function totalText({ ratio, interval }: TotalRatio): string {
  return ratioText(ratio, interval)
}

function ratioText(ratio: number, interval: Interval | null): string {
  if (Number.isNaN(ratio)) return '-'
  if (interval === null) return ratio.toFixed(2)
  return `${ratio.toFixed(2)} (${interval[0].toFixed(2)} to ${interval[1].toFixed(2)})`
}

/** Returns a report as plain data, with at most {@link reportLimits} sizes, also of an evaluation. */
export function learnReportOutcome({ iterations, explored, evaluations, collectives }: LearningReport) {
  return {
    ...{ iterations, explored },
    evaluations: evaluations.map(({ sizes, ...figures }) => ({
      ...figures,
      sizes: sizes.slice(0, reportLimits.sizes),
      moreSizes: Math.max(0, sizes.length - reportLimits.sizes),
    })),
    collectives: collectives.map(({ collective, learned, settings, slow, gains, moreSizes, trends }) => {
      const line = (number: number) => (number === 0 ? null : lineOf(learned, number))
      const shares = (next: ReadonlyMap<number, number>) =>
        Object.fromEntries([...next].map(([number, share]) => [line(number), share]))
      return {
        ...{ collective, isTrained: learned.grid.isTrained, moreSizes },
        settings: settings.map(({ number, ...time }) => ({ setting: line(number), ...time })),
        slow: slow.map(({ number, ...ratio }) => ({ setting: line(number), ...ratio })),
        sizes: gains.map(({ best, fastest, next, ...gain }) => ({
          ...{ ...gain, best: line(best), fastest: line(fastest), next: shares(next) },
        })),
        trends: trends.map(({ call, points }) => ({
          call,
          points: points.map(({ best, next, ...point }) => ({
            ...{ ...point, best: line(best), next: shares(next) },
          })),
        })),
      }
    }),
  }
}

/** The grid and the gains of a collective. */
interface LearnedCollective {
  readonly collective: Collective
  readonly learned: LearnedGrid
  readonly gains: readonly CallGain[]
}

/** The sizes of calls that a report lists, those with the most calls first, and settings of each. */
const shown = { sizes: 12, settings: 3 } as const

/** Returns the grids, the gains and the next probabilities as lines of text. */
export function learnText(collectives: readonly LearnedCollective[]): string {
  return collectives
    .filter(({ gains }) => gains.length > 0)
    .map(learnedText)
    .join('\n\n')
}

function learnedText({ collective, learned, gains }: LearnedCollective): string {
  const { grid, regressors } = learned
  const calls = learned.calls.reduce((sum, count) => sum + count, 0)
  const trained = regressors.filter((regressor) => regressor !== undefined).length
  const state = grid.isTrained ? 'trained' : 'not trained yet: all settings are tried alike'
  const head = `${collective}: ${counted(calls, 'call', 'calls')}, ${trained} of ${counted(grid.settings.length, 'setting', 'settings')} with enough calls, ${state}`
  const rows = gains
    .slice(0, shown.sizes)
    .map((gain) => [
      sizeText(gain.call),
      ...[String(gain.calls), microsecondsText(gain.defaultUs)],
      ...[modelText(gain, learned), microsecondsText(gain.bestUs), gainText(gain)],
    ])
  const table = columns([['size', 'calls', 'default', 'model', 'time', 'model / default'], ...rows])
  const settings = gains
    .slice(0, shown.sizes)
    .map((gain) => `  ${sizeText(gain.call)}: ${nextText(gain, learned)}`)
  const left = gains.length - rows.length
  const more = left > 0 ? [`  and ${counted(left, 'size', 'sizes')} with fewer calls`] : []
  const contradictions = contradictionLines(gains, learned)
  return [head, table, ...more, ...contradictions, '  next runs try', ...settings].join('\n')
}

function microsecondsText(timeUs: number): string {
  return Number.isNaN(timeUs) ? '-' : `${significant(timeUs)} us`
}

function gainText({ ratio, interval }: CallGain): string {
  if (Number.isNaN(ratio)) return '-'
  if (interval === null) return ratio.toFixed(2)
  const [low, high] = interval
  const verdict = low <= 1 && high >= 1 ? ', no difference seen' : low > 1 ? ', slower' : ''
  return `${ratio.toFixed(2)} (${low.toFixed(2)} to ${high.toFixed(2)})${verdict}`
}

/** Returns the choice of the model, which uses means of a cell and therefore is not always the fastest. */
function modelText({ best }: CallGain, { grid }: LearnedGrid): string {
  return best === 0 ? '-' : settingLine(grid.settings[best - 1])
}

function nextText({ next }: CallGain, { grid }: LearnedGrid): string {
  const order = [...next].sort((a, b) => b[1] - a[1] || a[0] - b[0])
  const texts = order
    .slice(0, shown.settings)
    .map(([number, share]) => `${settingLine(grid.settings[number - 1])} ${(100 * share).toFixed(0)}%`)
  const left = order.length - texts.length
  if (texts.length === 0) return 'the default'
  return left > 0 ? `${texts.join(', ')}, ${left} others` : texts.join(', ')
}

/** Returns the learned grids and gains as plain data. */
export function learnOutcome(collectives: readonly LearnedCollective[]) {
  return collectives.map(({ collective, learned, gains }) => {
    const { grid, calls, regressors } = learned
    const line = (number: number) => (number === 0 ? null : settingLine(grid.settings[number - 1]))
    return {
      ...{ collective, isTrained: grid.isTrained },
      settings: grid.settings.map((setting, i) => ({
        setting: settingLine(setting),
        calls: calls[i],
        isTrained: regressors[i] !== undefined,
      })),
      sizes: gains.map(({ call, best, fastest, next, ...figures }) => ({
        ...{ bytes: call.bytes, nodes: call.nodes, processesPerNode: call.processesPerNode, ...figures },
        best: line(best),
        fastest: line(fastest),
        next: Object.fromEntries([...next].map(([number, share]) => [line(number), share])),
      })),
    }
  })
}

const mostNamed = 3

/** Returns lines on sizes at which the setting that the model chooses is not the one whose calls were fastest. */
export function contradictionLines(gains: readonly CallGain[], { grid }: LearnedGrid): string[] {
  const lineOf = (number: number) => settingLine(grid.settings[number - 1])
  const found = gains.filter(({ isContradicted }) => isContradicted)
  if (found.length === 0) return []
  const lines = found.slice(0, mostNamed).map(({ call, best, bestUs, fastest, fastestUs }) => {
    const times = (bestUs / fastestUs).toFixed(2)
    return `    ${sizeText(call)}: ${lineOf(best)}, ${times} times the median of ${lineOf(fastest)}`
  })
  const left = found.length - lines.length
  return [
    '  the choice of the model is not the fastest seen: means count, which outliers and near sizes raise',
    ...lines,
    ...(left > 0 ? [`    and ${counted(left, 'size', 'sizes')} more`] : []),
  ]
}
