import { wrongValue } from '../../errors.js'
import { bestEntry, entryOf, type MeasuredData, type SettingSelector } from '../measured/measured-data.js'
import {
  type DecisionLeaf,
  type DecisionNode,
  type DecisionTree,
  treeLeaves,
  treeLimits,
} from '../models/decision-tree.js'
import { type Attribute, allAttributes, isNumberAttribute } from '../settings/tuning-call.js'
import {
  type AttributeColumn,
  bestCases,
  type ColumnTest,
  columnOf,
  decisionTest,
  requireLearnable,
} from './training-cases.js'

export interface LeastPenaltyOptions {
  /** The least number of calls in two outcomes of every test, 1 to 2^20. Default 2. */
  readonly minCases?: number
  /** The most tests on a path, 0 to 24. Default 24. */
  readonly maxDepth?: number
  /** The attributes to test; earlier ones win ties. Default: all, composites included. */
  readonly attributes?: readonly Attribute[]
  /** The percentage points of the mean penalty that each further leaf has to save, 0 to 1,000. Default 0.1. */
  readonly gainPercent?: number
  /** Decides when a setting has no time, as in `penaltyOf`. Default: settings without times are not chosen. */
  readonly fallback?: SettingSelector
  /** The index of the setting that stands unless another is shown to be faster. Default: -1, none. */
  readonly standard?: number
}

export const defaultGainPercent = 0.1

/**
 * Learns a decision tree by the penalties of decisions. Every test is the one after which the best settings of the
 * outcomes lose least in all. A leaf has the setting that loses least over its calls. C4.5 instead counts calls whose
 * best setting is another one; such counts mean little if several settings are as good as the best, or noise decides.
 *
 * - A subtree becomes a leaf if it saves less than `gainPercent` for each leaf beyond the first.
 * - Another setting takes the place of `standard` only by evidence. The evidence is the mean logarithm of the ratio of
 *   both times over the calls of the leaf. It lies below 0 by more than the half widths of the 95% intervals, added as
 *   independent errors. Intervals are widened for as many comparisons as there are other settings, since the fastest of
 *   many may be so by chance.
 *
 * Time: attributes x depth x calls x (times of a call + settings), with a logarithm. Memory: 24 bytes a call and time.
 *
 * @param data of 1 to 2^20 calls
 * @throws ERR_TUNING for no calls, and more than 2^20
 * @throws ERR_ARGUMENT for options out of range
 */
export function learnLeastPenaltyTree(data: MeasuredData, options: LeastPenaltyOptions = {}): DecisionTree {
  const { minCases = 2, attributes = allAttributes, maxDepth = treeLimits.depth, standard = -1 } = options
  const { gainPercent = defaultGainPercent, fallback } = options
  requireLearnable(data.calls.length, minCases, maxDepth, attributes)
  if (!(gainPercent >= 0 && gainPercent <= 1000))
    throw wrongValue('ERR_ARGUMENT', 'expected gainPercent from 0 to 1000', gainPercent)
  const cases = bestCases(data)
  const growth: Growth = {
    ...{ data, minCases, maxDepth, standard },
    table: penaltyTable(data, fallback),
    columns: attributes.map((attribute) => columnOf(cases, attribute)),
    leastGain: (gainPercent / 100) * data.calls.length,
  }
  const { node } = grow(growth, [...data.calls.keys()], 0)
  return { settings: data.settings, root: node }
}

interface Growth {
  readonly data: MeasuredData
  readonly table: PenaltyTable
  readonly columns: readonly AttributeColumn[]
  readonly minCases: number
  readonly maxDepth: number
  readonly standard: number
  /** The penalty that a further leaf has to save, summed over all calls. */
  readonly leastGain: number
}

/** A node, and the penalty of its decisions, summed over its calls. */
interface Grown<N extends DecisionNode = DecisionNode> {
  readonly node: N
  readonly penalty: number
}

function grow(growth: Growth, rows: readonly number[], depth: number): Grown {
  const leaf = grownLeaf(growth, rows)
  const { minCases, maxDepth, leastGain } = growth
  if (depth === maxDepth || rows.length < 2 * minCases || leaf.penalty === 0) return leaf
  const split = bestSplit(growth, rows, leaf.penalty)
  if (split === null) return leaf
  const children = dividedRows(split, rows).map((part) => grow(growth, part, depth + 1))
  const penalty = children.reduce((sum, child) => sum + child.penalty, 0)
  const below = children.map((child) => child.node)
  const node = decisionTest(split, leaf.node, below)
  const leaves = treeLeaves({ settings: growth.data.settings, root: node }).length
  return leaf.penalty - penalty < leastGain * (leaves - 1) || hasOneSetting(node) ? leaf : { node, penalty }
}

function hasOneSetting(node: DecisionNode): boolean {
  const [first, ...others] = treeLeaves({ settings: [], root: node })
  return others.every(({ setting }) => setting === first.setting)
}

/** Returns a leaf with the setting of least penalty, or with `standard` if nothing shows that it is slower. */
function grownLeaf({ data, table, standard }: Growth, rows: readonly number[]): Grown<DecisionLeaf> {
  const sums = new PenaltySums(table, rows)
  const least = sums.least()
  const setting = standard < 0 || isFaster(data, rows, least, standard) ? least : standard
  const errors = rows.filter((row) => data.setting[bestEntry(data, row)] !== setting).length
  return { node: { kind: 'leaf', setting, cases: rows.length, errors }, penalty: sums.of(setting) }
}

/** Returns whether times show that a setting is faster than another, over the calls that have both. */
function isFaster(data: MeasuredData, rows: readonly number[], setting: number, other: number): boolean {
  const { timeUs, lowUs, highUs } = data
  const halfWidth = (entry: number) => Math.log(highUs[entry] / lowUs[entry]) / 2
  let [sum, squares] = [0, 0]
  for (const row of rows) {
    const [a, b] = [entryOf(data, row, setting), entryOf(data, row, other)]
    if (a < 0 || b < 0) continue
    sum += Math.log(timeUs[a] / timeUs[b])
    squares += halfWidth(a) ** 2 + halfWidth(b) ** 2
  }
  return sum + Math.sqrt(squares) * widening(data.settings.length - 1) < 0
}

/** The deviations of a normal distribution within which 95% lie. */
const deviations = 1.96

/** Returns the factor by which intervals widen for as many comparisons at once: Bonferroni's, as z^2 + 2 ln count. */
function widening(count: number): number {
  return Math.sqrt(1 + (2 * Math.log(Math.max(1, count))) / deviations ** 2)
}

interface Split extends ColumnTest {
  /** The penalty of the best settings of the outcomes. */
  readonly penalty: number
}

/** Returns the first of the splits that lose least, or null if none loses less than the leaf. */
function bestSplit(growth: Growth, rows: readonly number[], leafPenalty: number): Split | null {
  let best: Split | null = null
  for (const column of growth.columns) {
    const split = isNumberAttribute(column.attribute)
      ? numberSplit(growth, rows, column)
      : wordSplit(growth, rows, column)
    if (split !== null && split.penalty < (best?.penalty ?? leafPenalty) - rounding) best = split
  }
  return best
}

/** The difference up to which sums are equal, because they were added in another order. */
const rounding = 1e-6

function numberSplit(growth: Growth, rows: readonly number[], column: AttributeColumn): Split | null {
  const { table, minCases } = growth
  const { values } = column
  const sorted = rows.toSorted((a, b) => values[a] - values[b])
  const [left, right] = [new PenaltySums(table), new PenaltySums(table, rows)]
  let best: Split | null = null
  for (let i = 0; i + minCases < sorted.length; i++) {
    left.add(sorted[i])
    right.remove(sorted[i])
    if (i + 1 < minCases || values[sorted[i]] === values[sorted[i + 1]]) continue
    const penalty = left.of(left.least()) + right.of(right.least())
    if (penalty < (best?.penalty ?? Infinity) - rounding)
      best = { column, atMost: values[sorted[i]], penalty }
  }
  return best
}

function wordSplit(growth: Growth, rows: readonly number[], column: AttributeColumn): Split | null {
  const test = { column, atMost: Number.NaN }
  const parts = dividedRows(test, rows)
  if (parts.filter((part) => part.length >= growth.minCases).length < 2) return null
  const sums = parts.map((part) => new PenaltySums(growth.table, part))
  return { ...test, penalty: sums.reduce((sum, each) => sum + each.of(each.least()), 0) }
}

/**
 * Returns the rows of each outcome: of a number, up to the limit, then above; of a word, of each word of the column.
 */
function dividedRows(
  { column, atMost }: ColumnTest,
  rows: readonly number[],
): readonly (readonly number[])[] {
  const { attribute, values, words } = column
  if (!isNumberAttribute(attribute)) return words.map((_, word) => rows.filter((row) => values[row] === word))
  return [rows.filter((row) => values[row] <= atMost), rows.filter((row) => values[row] > atMost)]
}

/**
 * The penalties of every setting at every call, such that sums over calls are added and subtracted. A call that joins a
 * sum costs as many steps as it has times, whatever the number of settings.
 *
 * Memory: 16 bytes a call and 8 bytes a time.
 */
interface PenaltyTable {
  readonly data: MeasuredData
  /** The penalty of settings without a time, by call: that of the default, or {@link unknownPenalty}. */
  readonly withoutTime: Float64Array
  /** The penalty of the setting, by entry, as a share of the best time: 0.5 is half as long again. */
  readonly penalty: Float64Array
}

/** The penalty of a decision without a time: far more than that of any time worth considering. */
const unknownPenalty = 1e6

/** @param fallback decides when a setting has no time. Default: nothing does. */
function penaltyTable(data: MeasuredData, fallback: SettingSelector = () => -1): PenaltyTable {
  const { calls, rowStart, timeUs } = data
  const withoutTime = new Float64Array(calls.length)
  const penalty = new Float64Array(timeUs.length)
  calls.forEach((call, row) => {
    const bestUs = timeUs[bestEntry(data, row)]
    for (let entry = rowStart[row]; entry < rowStart[row + 1]; entry++)
      penalty[entry] = timeUs[entry] / bestUs - 1
    const entry = entryOf(data, row, fallback(call))
    withoutTime[row] = entry < 0 ? unknownPenalty : penalty[entry]
  })
  return { data, withoutTime, penalty }
}

/** The sums of penalties over some calls, by setting. */
class PenaltySums {
  readonly #table: PenaltyTable
  /** The sum of a setting without a time in any of these calls. */
  #withoutTime = 0
  /** The difference of each setting's sum from that. */
  readonly #difference: Float64Array

  constructor(table: PenaltyTable, rows: Iterable<number> = []) {
    this.#table = table
    this.#difference = new Float64Array(table.data.settings.length)
    for (const row of rows) this.add(row)
  }

  add(row: number): void {
    this.#count(row, 1)
  }

  remove(row: number): void {
    this.#count(row, -1)
  }

  of(setting: number): number {
    return this.#withoutTime + this.#difference[setting]
  }

  /** Returns the setting of the least sum, of equal ones the lowest. */
  least(): number {
    let least = 0
    for (let i = 1; i < this.#difference.length; i++)
      if (this.#difference[i] < this.#difference[least]) least = i
    return least
  }

  #count(row: number, times: 1 | -1): void {
    const { data, withoutTime, penalty } = this.#table
    const { rowStart, setting } = data
    this.#withoutTime += times * withoutTime[row]
    for (let entry = rowStart[row]; entry < rowStart[row + 1]; entry++)
      this.#difference[setting[entry]] += times * (penalty[entry] - withoutTime[row])
  }
}
