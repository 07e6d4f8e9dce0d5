import type { Interval } from '../../base/search.js'
import type { Collective } from '../../schedule/specification.js'
import { bestNumber } from '../models/decision-grid.js'
import type { TuningCall } from '../settings/tuning-call.js'
import {
  defaultNumber,
  fastestOf,
  medianRatioInterval,
  middleUs,
  type SizeTimes,
  timesBySize,
} from './call-history.js'
import { GridSelection, type SelectionLogic } from './grid-selection.js'
import type { LearnedGrid, TimedCall } from './learn-grid.js'

/** The calls of one size that took place, with the result of learning from them. */
export interface CallGain {
  readonly call: TuningCall
  readonly calls: number
  /** The microseconds of all of them together. */
  readonly totalUs: number
  /** The number of the best setting; 0 if none is known. */
  readonly best: number
  /** The median microseconds of the calls by that setting; `defaultUs` has those by default. NaN without any. */
  readonly bestUs: number
  readonly defaultUs: number
  /** The first over the second; `interval` has at least 95% confidence, null for fewer than 7 calls by one of them. */
  readonly ratio: number
  readonly interval: Interval | null
  /**
   * The setting whose calls had the least median, of those with at least 7, which an exhaustive search would find;
   * below, that median. The least of several medians is a little too small. 0 and NaN: no setting has so many.
   */
  readonly fastest: number
  readonly fastestUs: number
  /**
   * Whether calls by the best setting are slower than those by the fastest. Either an interval of at least 95%
   * confidence for the ratio of the medians is above 1.05, or the ratio is above 1.5. The model uses means over a cell,
   * which outliers and other sizes of the cell raise. False with fewer than 7 calls by one of them.
   */
  readonly isContradicted: boolean
  /**
   * The probability of each setting in the next runs, by number, including settings that no run has tried at this size.
   */
  readonly next: ReadonlyMap<number, number>
}

/** The ratios of medians above which the best setting contradicts the fastest one; lower ones do not matter. */
const slower = { surely: 1.05, evidently: 1.5 } as const

/**
 * Returns the gains of runs so far by size of calls, those with the most calls first. Every figure is from calls that
 * took place; only the choice of the best setting is predicted.
 */
export function callGains(
  collective: Collective,
  learned: LearnedGrid,
  timed: readonly TimedCall[],
  logic: SelectionLogic,
): CallGain[] {
  const { grid } = learned
  const byDefault = defaultNumber(grid.settings)
  const sizes = timesBySize(collective, timed)
  const drawn = drawnSettings(sizes, grid.settings.length)
  return sizes.map((size): CallGain => {
    const { call, calls, totalUs, timesUs } = size
    const { bytes, nodes, processesPerNode } = call
    const best = grid.isTrained ? bestNumber(grid, bytes, nodes, processesPerNode) : 0
    const [ofBest, ofDefault] = [best, byDefault].map((number) => timesUs.get(number) ?? [])
    const [bestUs, defaultUs] = [middleUs(ofBest), middleUs(ofDefault)]
    const { fastest, fastestUs } = fastestOf(size)
    const toFastest = best === fastest ? null : medianRatioInterval(ofBest, timesUs.get(fastest) ?? [])
    return {
      ...{ call, calls, totalUs, best, bestUs, defaultUs, ratio: bestUs / defaultUs },
      interval: medianRatioInterval(ofBest, ofDefault),
      ...{ fastest, fastestUs },
      isContradicted:
        toFastest !== null && (toFastest[0] > slower.surely || bestUs / fastestUs > slower.evidently),
      next: nextProbabilities(learned, logic, call, drawn(call)),
    }
  })
}

/**
 * Returns the probabilities of settings that runs of a logic try for a call, by number.
 *
 * @param drawn numbers of the settings that may serve it, ascending
 */
export function nextProbabilities(
  { grid }: LearnedGrid,
  logic: SelectionLogic,
  { bytes, nodes, processesPerNode }: TuningCall,
  drawn: Iterable<number>,
): ReadonlyMap<number, number> {
  return new GridSelection(grid, logic, drawn, nodes, processesPerNode).probabilitiesOf(bytes)
}

/** The calls per setting after which a run has drawn each once, except with a chance below 1 in 20,000. */
const callsOfEach = 10

/** The number of settings below which each has a probability of at least 3%; otherwise it is one over their number. */
const mostOfLeast = 34

/**
 * Returns the numbers of the settings that runs may draw for a call: all except those that evidently cannot serve it.
 * Such a setting would otherwise have had one of so many calls of the size, at the place or of the collective.
 *
 * @param sizes of the collective
 * @param settings how many the collective has
 */
export function drawnSettings(
  sizes: Iterable<SizeTimes>,
  settings: number,
): (call: TuningCall) => readonly number[] {
  const tried = new Map<string, { calls: number; readonly numbers: Set<number> }>()
  for (const { call, calls, timesUs } of sizes)
    for (const group of groupsOf(call)) {
      const known = tried.get(group) ?? { calls: 0, numbers: new Set() }
      known.calls += calls
      for (const number of timesUs.keys()) known.numbers.add(number)
      tried.set(group, known)
    }
  const enough = callsOfEach * Math.max(settings, mostOfLeast)
  const all = Array.from({ length: settings }, (_, i) => i + 1)
  return (call) => {
    const evidence = groupsOf(call)
      .flatMap((group) => tried.get(group) ?? [])
      .filter(({ calls }) => calls >= enough)
    return all.filter((number) => evidence.every(({ numbers }) => numbers.has(number)))
  }
}

/** Returns groups of calls that mostly the same settings serve: of one size, of one place, of the collective. */
function groupsOf({ bytes, nodes, processesPerNode }: TuningCall): readonly string[] {
  return [`${nodes} ${processesPerNode} ${bytes}`, `${nodes} ${processesPerNode}`, '']
}
