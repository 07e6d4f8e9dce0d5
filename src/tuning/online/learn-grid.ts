import { wrongValue } from '../../errors.js'
import { type CellAxes, cellPoint, countCells, emptyGrid, type OpenGrid } from '../models/decision-grid.js'
import { settingLine, type TuningSetting } from '../settings/setting.js'
import { type BoostedTrees, growBoostedTrees, predictBoosted } from './boosted-trees.js'

/** A call that took place, with the setting that served it. */
export interface TimedCall {
  /** The number of the setting in its collective, from 1. */
  readonly setting: number
  readonly bytes: number
  readonly nodes: number
  readonly processesPerNode: number
  /** The longest time that a measured process spent in it, microseconds, at least 0. */
  readonly timeUs: number
}

export interface GridLearning {
  /** The number of calls that a setting needs before it has a regressor. Default 10. */
  readonly leastCalls?: number
  /** The number of settings with regressors that a collective needs, or all of fewer settings. Default 5. */
  readonly leastSettings?: number
  /** The settings that are never chosen, by number. Default none. */
  readonly blacklist?: ReadonlySet<number>
  /** Whether performances are retained, by which runs explore. Default true. */
  readonly hasPerformances?: boolean
}

/** A grid with the calls and regressors behind it. */
export interface LearnedGrid {
  readonly grid: OpenGrid
  /** The number of calls that each setting has served. */
  readonly calls: Int32Array
  /**
   * The regressor of each setting, which predicts its time in microseconds from bytes, nodes and processes per node.
   */
  readonly regressors: readonly (BoostedTrees | undefined)[]
}

/**
 * Learns the grid of one collective. Each setting has a regressor of boosted trees, from all of its calls, which
 * predicts every cell at its lower edges. The order of the calls matters by rounding only.
 *
 * A setting with fewer calls than `leastCalls` has performance 0. If fewer settings than `leastSettings` have
 * regressors, the grid is untrained.
 *
 * Time: for each setting 200 trees over its distinct calls, and 1,200 steps for each cell.
 *
 * @throws ERR_ARGUMENT for a call whose setting is not in the table
 * @see Steiner 2023 §4.5
 */
export function learnGrid(
  settings: readonly TuningSetting[],
  axes: CellAxes,
  timed: Iterable<TimedCall>,
  { leastCalls = 10, leastSettings = 5, blacklist = new Set(), hasPerformances = true }: GridLearning = {},
): LearnedGrid {
  const points = collectPoints(settings, timed)
  const calls = Int32Array.from(points, (ofSetting) => countCalls(ofSetting))
  const regressors = points.map((ofSetting, i) =>
    calls[i] >= Math.max(1, leastCalls) && !blacklist.has(i + 1) ? regressorOf(ofSetting) : undefined,
  )
  const trained = regressors.filter((regressor) => regressor !== undefined).length
  const available = availableSettings(calls, leastCalls, blacklist)
  const isTrained = trained > 0 && trained >= Math.min(leastSettings, available)
  const grid = isTrained ? askedGrid(settings, axes, regressors, hasPerformances) : emptyGrid(settings, axes)
  const excluded = [...blacklist].sort((a, b) => a - b)
  return { grid: excluded.length === 0 ? grid : { ...grid, excluded }, calls, regressors }
}

/**
 * Returns the number of settings that can be trained. Settings are equally probable, so chance hardly leaves one out of
 * so many calls: a setting without any cannot serve the calls of these programs.
 */
function availableSettings(calls: Int32Array, leastCalls: number, blacklist: ReadonlySet<number>): number {
  const total = calls.reduce((sum, count) => sum + count, 0)
  const isLate = total >= leastCalls * calls.length
  return calls.filter((count, i) => !blacklist.has(i + 1) && (count > 0 || !isLate)).length
}

/** Returns the time that a regressor predicts for a call, in microseconds. */
export function predictedCallUs(
  regressor: BoostedTrees,
  bytes: number,
  nodes: number,
  processesPerNode: number,
): number {
  return predictBoosted(regressor, [bytes, nodes, processesPerNode])
}

/** The calls of one setting that have the same size. */
interface CallPoint {
  readonly features: readonly [number, number, number]
  calls: number
  sumUs: number
}

function collectPoints(
  settings: readonly TuningSetting[],
  timed: Iterable<TimedCall>,
): Map<string, CallPoint>[] {
  const points = settings.map(() => new Map<string, CallPoint>())
  for (const { setting, bytes, nodes, processesPerNode, timeUs } of timed) {
    const ofSetting = points[setting - 1]
    if (ofSetting === undefined)
      throw wrongValue('ERR_ARGUMENT', `timed call: expected setting from 1 to ${settings.length}`, setting)
    if (!(timeUs >= 0) || !Number.isFinite(timeUs))
      throw wrongValue(
        'ERR_ARGUMENT',
        `timed call by ${settingLine(settings[setting - 1])}: expected timeUs of at least 0`,
        timeUs,
      )
    const key = `${bytes} ${nodes} ${processesPerNode}`
    let point = ofSetting.get(key)
    if (point === undefined) {
      point = { features: [bytes, nodes, processesPerNode], calls: 0, sumUs: 0 }
      ofSetting.set(key, point)
    }
    point.calls++
    point.sumUs += timeUs
  }
  return points
}

function countCalls(points: ReadonlyMap<string, CallPoint>): number {
  let calls = 0
  for (const point of points.values()) calls += point.calls
  return calls
}

function regressorOf(points: ReadonlyMap<string, CallPoint>): BoostedTrees {
  // Sorting by size puts equal points in the same order.
  const all = [...points.values()].sort(
    ({ features: a }, { features: b }) => a[0] - b[0] || a[1] - b[1] || a[2] - b[2],
  )
  return growBoostedTrees({
    features: [0, 1, 2].map((feature) => Float64Array.from(all, ({ features }) => features[feature])),
    counts: Float64Array.from(all, ({ calls }) => calls),
    sums: Float64Array.from(all, ({ sumUs }) => sumUs),
  })
}

function askedGrid(
  settings: readonly TuningSetting[],
  axes: CellAxes,
  regressors: readonly (BoostedTrees | undefined)[],
  hasPerformances: boolean,
): OpenGrid {
  const cells = countCells(axes)
  const count = settings.length
  const best = new Int32Array(cells)
  const performances = hasPerformances ? new Float32Array(cells * count) : undefined
  const leastUs = new Float64Array(cells).fill(Number.POSITIVE_INFINITY)
  const timesUs = regressors.map((regressor, i) => {
    if (regressor === undefined) return undefined
    const ofSetting = predictedCells(axes, regressor)
    for (let cell = 0; cell < cells; cell++)
      if (ofSetting[cell] < leastUs[cell]) {
        leastUs[cell] = ofSetting[cell]
        best[cell] = i + 1
      }
    return ofSetting
  })
  if (performances !== undefined)
    for (const [i, ofSetting] of timesUs.entries())
      for (let cell = 0; ofSetting !== undefined && cell < cells; cell++)
        performances[cell * count + i] = leastUs[cell] / ofSetting[cell]
  return { settings, axes, isTrained: true, best, performances }
}

/** Returns the predictions of a regressor for every cell. Cells between the same tests share one prediction. */
function predictedCells(axes: CellAxes, regressor: BoostedTrees): Float64Array {
  const tested = [0, 1, 2].map((feature) => testedValues(regressor, feature))
  const known = new Map<string, number>()
  return Float64Array.from({ length: countCells(axes) }, (_, cell) => {
    const { bytes, nodes, processesPerNode } = cellPoint(axes, cell)
    const key = `${placeAmong(tested[0], bytes)} ${placeAmong(tested[1], nodes)} ${placeAmong(tested[2], processesPerNode)}`
    let timeUs = known.get(key)
    if (timeUs === undefined) {
      timeUs = predictedCallUs(regressor, bytes, nodes, processesPerNode)
      known.set(key, timeUs)
    }
    return timeUs
  })
}

function testedValues({ feature, value }: BoostedTrees, wanted: number): Float64Array {
  return Float64Array.from(new Set(value.filter((_, node) => feature[node] === wanted))).sort()
}

/** Returns how many of ascending values are at most a number: tests are of numbers below a value. */
function placeAmong(values: Float64Array, number: number): number {
  let [low, high] = [0, values.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (values[middle] <= number) low = middle + 1
    else high = middle
  }
  return low
}
