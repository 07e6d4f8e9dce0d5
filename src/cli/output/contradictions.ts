import type { CallGain } from '../../tuning/online/call-gains.js'
import type { LearnedGrid } from '../../tuning/online/learn-grid.js'
import { settingLine } from '../../tuning/settings/setting.js'
import { counted } from './reporter.js'

const mostNamed = 3

/** Returns lines on sizes at which the setting that the model chooses is not the one whose calls were fastest. */
export function contradictionLines(gains: readonly CallGain[], { grid }: LearnedGrid): string[] {
  const lineOf = (number: number) => settingLine(grid.settings[number - 1])
  const found = gains.filter(({ isContradicted }) => isContradicted)
  if (found.length === 0) return []
  const lines = found.slice(0, mostNamed).map(({ call, best, bestUs, fastest, fastestUs }) => {
    const size = `${call.bytes} B on ${call.nodes} x ${call.processesPerNode}`
    const times = (bestUs / fastestUs).toFixed(2)
    return `    ${size}: ${lineOf(best)}, ${times} times the median of ${lineOf(fastest)}`
  })
  const left = found.length - lines.length
  return [
    '  the choice of the model is not the fastest seen: means count, which outliers and near sizes raise',
    ...lines,
    ...(left > 0 ? [`    and ${counted(left, 'size', 'sizes')} more`] : []),
  ]
}
