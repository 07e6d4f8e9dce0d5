import { wrongValue } from '../../errors.js'
import { type CellAxes, cellPoint, countCells, emptyGrid, type OpenGrid } from '../models/decision-grid.js'
import { settingLine, type TuningSetting } from '../settings/setting.js'

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

/**
 * A regressor: the sum of small trees on the logarithm of the predicted value. Predictions are above 0 and finite.
 * Plain data of typed arrays: 24 bytes a node.
 */
export interface BoostedTrees {
  /** The logarithm from which the trees start. */
  readonly base: number
  /** The first node of each tree. */
  readonly roots: Int32Array
  /** The feature that each node tests; -1 for a leaf. */
  readonly feature: Int32Array
  /** The value of each node. A point below it goes to `below`, any other to `above`; a leaf adds it to the sum. */
  readonly value: Float64Array
  /** The node to which points below the value go. Points at or above it go to `above`. */
  readonly below: Int32Array
  readonly above: Int32Array
}

/** The points from which {@link growBoostedTrees} learns, each with all of its observations. */
interface Observations {
  /** The values by feature, then by point. Equal points are better given once: the time grows with their number. */
  readonly features: readonly Float64Array[]
  /** The number of observations of each point, at least 1. */
  readonly counts: Float64Array
  /** The sum of the observations of each point, at least 0. */
  readonly sums: Float64Array
}

interface BoostingOptions {
  /** The number of trees, 1 to 1,000. Default 200. */
  readonly trees?: number
  /** The most tests on a path, 0 to 16. Default 6. */
  readonly depth?: number
  /** The part of each tree's step that is taken, above 0 and at most 1. Default 0.3. */
  readonly step?: number
  /** The weight of the penalty on leaves, at least 0. Default 1. */
  readonly lambda?: number
  /** The least sum of second derivatives in a leaf. Default 1. */
  readonly leastWeight?: number
  /** The power of the mean to which the variance is proportional, between 1 and 2. Default 1.5. */
  readonly power?: number
}

/** The least gain that is not a rounding error. */
const leastGain = 1e-6

/**
 * Grows gradient-boosted trees for observations whose spread grows with their mean, such as run times. It uses the
 * Tweedie objective, with second derivatives and exact search for tests. Defaults are those of XGBoost 1.7, which
 * starts from 0.5 and calculates in single precision; this function uses double precision.
 *
 * Observations should be well above 1: near 0 they weigh little, so that few of them hardly move a tree. Times are in
 * microseconds for that reason.
 *
 * Time: trees x depth x features x points, after sorting each feature once. Observations of one point are added up,
 * which changes nothing: the derivatives depend on the sum and the number of them only.
 *
 * @throws ERR_ARGUMENT without points, for arrays of different lengths, and for options out of range
 * @see Steiner 2023 §4.5.1; Chen and Guestrin 2016, XGBoost, §2 and §3.1
 */
export function growBoostedTrees(observations: Observations, options: BoostingOptions = {}): BoostedTrees {
  const settings = checked(observations, options)
  return new Booster(observations, settings).grow()
}

/** Returns the prediction of a regressor for one point. Allocates nothing. */
export function predictBoosted(
  { base, roots, feature, value, below, above }: BoostedTrees,
  point: ArrayLike<number>,
): number {
  let sum = base
  for (let tree = 0; tree < roots.length; tree++) {
    let node = roots[tree]
    while (feature[node] >= 0) node = point[feature[node]] < value[node] ? below[node] : above[node]
    sum += value[node]
  }
  return Math.exp(sum)
}

interface Split {
  readonly feature: number
  readonly value: number
  readonly gain: number
}

class Booster {
  readonly #data: Observations
  readonly #options: Required<BoostingOptions>
  readonly #points: number
  /** The points by ascending value, by feature. */
  readonly #orders: readonly Int32Array[]
  /** The logarithm predicted so far, the first and the second derivative, by point. */
  readonly #sum: Float64Array
  readonly #first: Float64Array
  readonly #second: Float64Array
  /** The node of each point in the tree that grows. */
  readonly #node: Int32Array
  readonly #nodes = {
    feature: [] as number[],
    value: [] as number[],
    below: [] as number[],
    above: [] as number[],
  }

  constructor(data: Observations, options: Required<BoostingOptions>) {
    this.#data = data
    this.#options = options
    this.#points = data.counts.length
    this.#orders = data.features.map((values) =>
      Int32Array.from(values.keys()).sort((a, b) => values[a] - values[b] || a - b),
    )
    this.#sum = new Float64Array(this.#points).fill(Math.log(0.5))
    this.#first = new Float64Array(this.#points)
    this.#second = new Float64Array(this.#points)
    this.#node = new Int32Array(this.#points)
  }

  grow(): BoostedTrees {
    const roots = Int32Array.from({ length: this.#options.trees }, () => this.#growTree())
    const { feature, value, below, above } = this.#nodes
    return {
      base: Math.log(0.5),
      roots,
      feature: Int32Array.from(feature),
      value: Float64Array.from(value),
      below: Int32Array.from(below),
      above: Int32Array.from(above),
    }
  }

  #growTree(): number {
    this.#derive()
    const root = this.#add()
    this.#node.fill(root)
    let level = [root]
    for (let depth = 0; depth < this.#options.depth && level.length > 0; depth++)
      level = this.#splitLevel(level)
    this.#weigh(root)
    const { value } = this.#nodes
    for (let point = 0; point < this.#points; point++) this.#sum[point] += value[this.#node[point]]
    return root
  }

  /** Computes derivatives of the negative logarithm of the likelihood, all observations of a point together. */
  #derive(): void {
    const { power } = this.#options
    const { counts, sums } = this.#data
    for (let point = 0; point < this.#points; point++) {
      const near = sums[point] * Math.exp((1 - power) * this.#sum[point])
      const far = counts[point] * Math.exp((2 - power) * this.#sum[point])
      this.#first[point] = far - near
      this.#second[point] = (power - 1) * near + (2 - power) * far
    }
  }

  #add(): number {
    const { feature, value, below, above } = this.#nodes
    below.push(-1)
    above.push(-1)
    value.push(0)
    return feature.push(-1) - 1
  }

  /** Splits the nodes of a level that gain by it, and returns the nodes of the next level. */
  #splitLevel(level: readonly number[]): number[] {
    const first = level[0]
    const splits = this.#bestSplits(first, level.length)
    const { feature, value, below, above } = this.#nodes
    const next: number[] = []
    for (const [index, split] of splits.entries()) {
      if (split === undefined) continue
      const node = first + index
      feature[node] = split.feature
      value[node] = split.value
      below[node] = this.#add()
      above[node] = this.#add()
      next.push(below[node], above[node])
    }
    for (let point = 0; point < this.#points; point++) {
      const node = this.#node[point]
      if (node < first || feature[node] < 0) continue
      this.#node[point] = this.#data.features[feature[node]][point] < value[node] ? below[node] : above[node]
    }
    return next
  }

  /** Finds the splits of nodes `first` to `first + count - 1` of a level, reading each feature once for all of them. */
  #bestSplits(first: number, count: number): (Split | undefined)[] {
    const { lambda, leastWeight } = this.#options
    const score = (g: number, h: number): number => (g * g) / (h + lambda)
    const [allFirst, allSecond] = this.#sumsOf(first, count)
    const best = new Array<Split | undefined>(count).fill(undefined)
    for (const [index, order] of this.#orders.entries()) {
      const values = this.#data.features[index]
      const left = { first: new Float64Array(count), second: new Float64Array(count) }
      const last = new Float64Array(count).fill(Number.NaN)
      for (let i = 0; i < order.length; i++) {
        const point = order[i]
        const node = this.#node[point] - first
        if (node < 0) continue
        const value = values[point]
        if (value > last[node]) {
          const [g, h] = [left.first[node], left.second[node]]
          const [otherG, otherH] = [allFirst[node] - g, allSecond[node] - h]
          if (h >= leastWeight && otherH >= leastWeight) {
            const gain = score(g, h) + score(otherG, otherH) - score(allFirst[node], allSecond[node])
            // The first of equal gains wins: the lower feature, the lower value.
            if (gain > Math.max(leastGain, best[node]?.gain ?? 0))
              best[node] = { feature: index, value: (last[node] + value) / 2, gain }
          }
        }
        last[node] = value
        left.first[node] += this.#first[point]
        left.second[node] += this.#second[point]
      }
    }
    return best
  }

  #sumsOf(first: number, count: number): readonly [Float64Array, Float64Array] {
    const sums = [new Float64Array(count), new Float64Array(count)] as const
    for (let point = 0; point < this.#points; point++) {
      const node = this.#node[point] - first
      if (node < 0) continue
      sums[0][node] += this.#first[point]
      sums[1][node] += this.#second[point]
    }
    return sums
  }

  /** Gives the leaves of the finished tree the values that they add. */
  #weigh(root: number): void {
    const { lambda, step } = this.#options
    const { value, feature } = this.#nodes
    const [first, second] = this.#sumsOf(root, feature.length - root)
    for (let node = root; node < feature.length; node++)
      if (feature[node] < 0) value[node] = (-step * first[node - root]) / (second[node - root] + lambda)
  }
}

const ranges = {
  trees: [1, 1000, true],
  depth: [0, 16, true],
  step: [Number.MIN_VALUE, 1, false],
  lambda: [0, Number.MAX_VALUE, false],
  leastWeight: [0, Number.MAX_VALUE, false],
  power: [1 + Number.EPSILON, 2 - Number.EPSILON, false],
} as const satisfies Record<keyof BoostingOptions, readonly [number, number, boolean]>

function checked(
  { features, counts, sums }: Observations,
  options: BoostingOptions,
): Required<BoostingOptions> {
  const points = counts.length
  if (points === 0 || sums.length !== points || features.some((values) => values.length !== points))
    throw wrongValue(
      'ERR_ARGUMENT',
      'boosted trees: expected as many counts, sums and values, one at least',
      points,
    )
  const settings = { trees: 200, depth: 6, step: 0.3, lambda: 1, leastWeight: 1, power: 1.5, ...options }
  for (const [name, [least, most, isWhole]] of Object.entries(ranges)) {
    const value = settings[name as keyof BoostingOptions]
    if (value >= least && value <= most && (!isWhole || Number.isInteger(value))) continue
    throw wrongValue('ERR_ARGUMENT', `boosted trees: expected ${name} from ${least} to ${most}`, value)
  }
  return settings
}
