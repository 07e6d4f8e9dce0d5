import { type Interval, medianInterval } from '../../base/median-interval.js'
import type { Collective } from '../../schedule/specification.js'
import { bestNumber } from '../decision-grid.js'
import { defaultAlgorithm } from '../setting.js'
import type { TuningCall } from '../tuning-call.js'
import { GridSelection, type SelectionLogic } from './grid-selection.js'
import type { LearnedGrid, TimedCall } from './learn-grid.js'

/** Calls of one size that took place, and what was learned about them. */
export interface CallGain {
  readonly call: TuningCall
  readonly calls: number
  /** Microseconds of all of them together. */
  readonly totalUs: number
  /** Number of the best setting; 0 where none is known. */
  readonly best: number
  /** Median times in microseconds, of the calls by that setting and of those by default; NaN without any. */
  readonly bestUs: number
  readonly defaultUs: number
  /** The first over the second; an interval of at least 90% confidence, null of fewer than 6 calls by one of them. */
  readonly ratio: number
  readonly interval: Interval | null
  /** What the next runs try, by number. */
  readonly next: ReadonlyMap<number, number>
}

/**
 * What runs so far gained by size of calls, those with the most calls first. Every figure is from calls that took place:
 * nothing is predicted but which setting is the best.
 */
export function callGains(
  collective: Collective,
  learned: LearnedGrid,
  timed: readonly TimedCall[],
  logic: SelectionLogic,
): CallGain[] {
  const { grid } = learned
  const { settings } = grid
  const bySize = new Map<string, TimedCall[]>()
  for (const call of timed) {
    const key = `${call.bytes} ${call.nodes} ${call.processesPerNode}`
    const known = bySize.get(key)
    if (known === undefined) bySize.set(key, [call])
    else known.push(call)
  }
  const byDefault = settings.findIndex(({ algorithm }) => algorithm === defaultAlgorithm) + 1
  return [...bySize.values()]
    .map((calls): CallGain => {
      const [{ bytes, nodes, processesPerNode }] = calls
      // Those that served calls of this size are known to serve them.
      const served = new Set(calls.map(({ setting }) => setting))
      const eligible = [...served].sort((a, b) => a - b)
      const selection = new GridSelection(grid, logic, eligible, nodes, processesPerNode)
      const best = grid.isTrained ? bestNumber(grid, bytes, nodes, processesPerNode) : 0
      const timesOf = (number: number) =>
        calls.filter(({ setting }) => setting === number).map(({ timeUs }) => timeUs)
      const [ofBest, ofDefault] = [timesOf(best), timesOf(byDefault)]
      return {
        call: { collective, bytes, nodes, processesPerNode },
        calls: calls.length,
        totalUs: calls.reduce((sum, { timeUs }) => sum + timeUs, 0),
        ...{ best, bestUs: medianOf(ofBest), defaultUs: medianOf(ofDefault) },
        ratio: medianOf(ofBest) / medianOf(ofDefault),
        interval: ratioInterval(medianInterval(ofBest), medianInterval(ofDefault)),
        next: selection.probabilitiesOf(bytes),
      }
    })
    .sort((a, b) => b.calls - a.calls)
}

/** Both medians lie in their intervals with 95% each, so both do with 90%. */
function ratioInterval(above: Interval | null, below: Interval | null): Interval | null {
  return above === null || below === null ? null : [above[0] / below[1], above[1] / below[0]]
}

function medianOf(values: readonly number[]): number {
  if (values.length === 0) return Number.NaN
  const ascending = values.toSorted((a, b) => a - b)
  const middle = values.length >> 1
  return values.length % 2 === 1 ? ascending[middle] : (ascending[middle - 1] + ascending[middle]) / 2
}
