import type { Interval } from '../../base/search.js'
import type { Collective } from '../../schedule/specification.js'
import { percentText } from '../../text/printable.js'
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
import { columns, counted, type ResultColumn, significant } from './result-rows.js'

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
  const table = columns(iterations.slice(first), [
    ['iteration', (_, i) => String(first + i + 1)],
    ['runs', ({ runs }) => String(runs)],
    ['calls', ({ calls }) => String(calls)],
    ['time / default', ({ cost }) => totalText(cost)],
  ])
  const left = first > 0 ? [`  and ${counted(first, 'iteration', 'iterations')} before`] : []
  const head = `exploring: ${totalText(explored)} times the time by default, in ${counted(explored.calls, 'recorded call', 'recorded calls')}`
  return [head, table, ...left].join('\n')
}

function evaluationText({ evaluations }: LearningReport): string {
  if (evaluations.length === 0) return 'no run has evaluated a model'
  const { sizes } = evaluations.at(-1)!
  const listed = sizes.slice(0, most.rows)
  const left = sizes.length - listed.length
  const times: readonly ResultColumn<Pick<Evaluated, 'defaultUs' | 'tunedUs' | 'ratio' | 'interval'>>[] = [
    ['default', ({ defaultUs }) => timeText(defaultUs)],
    ['tuned', ({ tunedUs }) => timeText(tunedUs)],
    ['tuned / default', ({ ratio, interval }) => ratioText(ratio, interval)],
  ]
  return [
    'evaluation, nothing is learned from it: recorded time of runs',
    columns(evaluations.slice(-most.rows), [
      ['after iteration', ({ after }) => String(after)],
      ['runs', ({ runs }) => String(runs)],
      ['by default', ({ defaultRuns }) => String(defaultRuns)],
      ['pairs', ({ pairs }) => String(pairs)],
      ...times,
    ]),
    '  by size, of the last model',
    columns(listed, [
      ['size', ({ call }) => `${call.collective} ${sizeText(call)}`],
      ['calls', ({ calls }) => String(calls)],
      ['by default', ({ defaultCalls, defaultOf }) => `${defaultCalls} ${defaultOf}`],
      ...times,
    ]),
    ...(left > 0 ? [`  and ${counted(left, 'size', 'sizes')} with fewer calls`] : []),
  ].join('\n')
}

type Evaluated = LearningReport['evaluations'][number]

function collectiveText(of: CollectiveReport, followed: TuningCall | undefined): string {
  const { collective, learned, gains, moreSizes, trends } = of
  const calls = learned.calls.reduce((sum, count) => sum + count, 0)
  const state = learned.grid.isTrained ? 'trained' : 'not trained yet: all settings are tried alike'
  const listed = gains.slice(0, most.rows)
  const left = moreSizes + gains.length - listed.length
  const named = trends.find(({ call }) => call.collective === collective && isSame(call, followed))
  const shown = named ?? trends[0]
  return [
    `${collective}: ${counted(calls, 'call', 'calls')}, ${state}`,
    settingsText(of),
    ...slowText(of),
    '  default, choice of the model, and the setting whose calls were fastest',
    columns(listed, [
      ['size', ({ call }) => sizeText(call)],
      ['calls', (gain) => String(gain.calls)],
      ['default', ({ defaultUs }) => timeText(defaultUs)],
      ['model', ({ best }) => lineOf(learned, best)],
      ['time', ({ bestUs }) => timeText(bestUs)],
      ['model / default', ({ ratio, interval }) => ratioText(ratio, interval)],
      ['fastest', ({ fastest }) => lineOf(learned, fastest)],
      ['fastest / default', ({ fastestUs, defaultUs }) => ratioText(fastestUs / defaultUs, null)],
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
  const listed = settings.slice(0, most.rows)
  const left = settings.length - listed.length
  const more = left > 0 ? [`  and ${counted(left, 'setting', 'settings')} with less time`] : []
  const table = columns(listed, [
    ['setting', ({ number }) => lineOf(learned, number)],
    ['calls', ({ calls }) => String(calls)],
    ['time', ({ totalUs }) => timeText(totalUs)],
    ['of all', ({ totalUs }) => percentText(totalUs / total, 1)],
  ])
  return [table, ...more].join('\n')
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
  const shareOf = ({ next }: TrendPoint, number: number) => next.get(number) ?? 0
  const othersOf = (point: TrendPoint) =>
    point.next.size === 0
      ? 0
      : Math.max(0, 1 - shown.reduce((sum, number) => sum + shareOf(point, number), 0))
  return [
    `  what runs try after each iteration, for ${sizeText(call)}; the last row comes next`,
    columns(points, [
      ['after', ({ after }) => String(after)],
      ...shown.map(
        (number): ResultColumn<TrendPoint> => [
          lineOf(learned, number),
          (point) => percentText(shareOf(point, number), 1),
        ],
      ),
      ['others', (point) => percentText(othersOf(point), 1)],
    ]),
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
  const listed = gains.slice(0, shown.sizes)
  const table = columns(listed, [
    ['size', ({ call }) => sizeText(call)],
    ['calls', (gain) => String(gain.calls)],
    ['default', ({ defaultUs }) => microsecondsText(defaultUs)],
    ['model', (gain) => modelText(gain, learned)],
    ['time', ({ bestUs }) => microsecondsText(bestUs)],
    ['model / default', gainText],
  ])
  const settings = listed.map((gain) => `  ${sizeText(gain.call)}: ${nextText(gain, learned)}`)
  const left = gains.length - listed.length
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
    .map(([number, share]) => `${settingLine(grid.settings[number - 1])} ${percentText(share, 0)}`)
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
