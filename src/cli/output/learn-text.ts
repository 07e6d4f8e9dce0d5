import type { Collective } from '../../schedule/specification.js'
import type { CallGain } from '../../tuning/online/call-gains.js'
import type { LearnedGrid } from '../../tuning/online/learn-grid.js'
import { settingLine } from '../../tuning/settings/setting.js'
import { contradictionLines } from './contradictions.js'
import { columns, counted, significant } from './reporter.js'

/** The grid and the gains of a collective. */
export interface LearnedCollective {
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
    .map(collectiveText)
    .join('\n\n')
}

function collectiveText({ collective, learned, gains }: LearnedCollective): string {
  const { grid, regressors } = learned
  const calls = learned.calls.reduce((sum, count) => sum + count, 0)
  const trained = regressors.filter((regressor) => regressor !== undefined).length
  const state = grid.isTrained ? 'trained' : 'not trained yet: all settings are tried alike'
  const head = `${collective}: ${counted(calls, 'call', 'calls')}, ${trained} of ${counted(grid.settings.length, 'setting', 'settings')} with enough calls, ${state}`
  const rows = gains
    .slice(0, shown.sizes)
    .map((gain) => [
      sizeText(gain),
      ...[String(gain.calls), timeText(gain.defaultUs)],
      ...[modelText(gain, learned), timeText(gain.bestUs), ratioText(gain)],
    ])
  const table = columns([['size', 'calls', 'default', 'model', 'time', 'model / default'], ...rows])
  const settings = gains
    .slice(0, shown.sizes)
    .map((gain) => `  ${sizeText(gain)}: ${nextText(gain, learned)}`)
  const left = gains.length - rows.length
  const more = left > 0 ? [`  and ${counted(left, 'size', 'sizes')} with fewer calls`] : []
  const contradictions = contradictionLines(gains, learned)
  return [head, table, ...more, ...contradictions, '  next runs try', ...settings].join('\n')
}

function sizeText({ call: { bytes, nodes, processesPerNode } }: CallGain): string {
  return `${bytes} B on ${nodes} x ${processesPerNode}`
}

function timeText(timeUs: number): string {
  return Number.isNaN(timeUs) ? '-' : `${significant(timeUs)} us`
}

function ratioText({ ratio, interval }: CallGain): string {
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
