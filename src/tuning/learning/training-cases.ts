import { RankweaveError, wrongValue } from '../../errors.js'
import { bestEntry, type MeasuredData } from '../measured/measured-data.js'
import {
  type DecisionLeaf,
  type DecisionNode,
  type ThresholdTest,
  treeLimits,
  type WordTest,
} from '../models/decision-tree.js'
import { compareWords } from '../settings/setting.js'
import {
  type Attribute,
  allAttributes,
  isNumberAttribute,
  numberOf,
  type TuningCall,
  type WordAttribute,
  wordOf,
} from '../settings/tuning-call.js'

/** A call, and the setting that is right for it. */
export interface TrainingCase {
  readonly call: TuningCall
  readonly setting: number
}

/** Returns a case for every measured call: its best setting, of equal times the lowest. */
export function bestCases(data: MeasuredData): TrainingCase[] {
  return data.calls.map((call, row) => ({ call, setting: data.setting[bestEntry(data, row)] }))
}

export interface AttributeColumn {
  readonly attribute: Attribute
  /** The value of each case: the number, or the index of the word. */
  readonly values: Float64Array
  /** The values of a number, ascending, each once. */
  readonly distinct: readonly number[]
  /** The words, ascending. */
  readonly words: readonly string[]
}

export function columnOf(cases: readonly TrainingCase[], attribute: Attribute): AttributeColumn {
  if (isNumberAttribute(attribute)) {
    const values = Float64Array.from(cases, ({ call }) => numberOf(call, attribute))
    return { attribute, values, distinct: [...new Set(values)].sort((a, b) => a - b), words: [] }
  }
  const texts = cases.map(({ call }) => wordOf(call, attribute))
  const words = [...new Set(texts)].sort(compareWords)
  const index = new Map(words.map((word, i) => [word, i]))
  return { attribute, values: Float64Array.from(texts, (text) => index.get(text)!), distinct: [], words }
}

/**
 * Returns a case for every measured call. A setting may stand for the best if it is at most `tolerancePercent` slower,
 * or its interval reaches into that of the best. So noise makes no rules.
 *
 * Of the admitted settings of a call, the case has the one that is admitted at most calls, of equal ones the lowest.
 *
 * @param tolerancePercent at least 0
 * @throws ERR_ARGUMENT for another tolerance
 * @see Pjesivac-Grbovic 2007 Eq. 5.6
 */
export function tolerantCases(data: MeasuredData, tolerancePercent: number): TrainingCase[] {
  if (!(Number.isFinite(tolerancePercent) && tolerancePercent >= 0))
    throw wrongValue('ERR_ARGUMENT', 'expected tolerancePercent of at least 0', tolerancePercent)
  const admitted = data.calls.map((_, row) => admittedSettings(data, row, 1 + tolerancePercent / 100))
  const counts = new Int32Array(data.settings.length)
  for (const settings of admitted) for (const setting of settings) counts[setting]++
  return data.calls.map((call, row) => {
    const setting = admitted[row].reduce((most, other) => (counts[other] > counts[most] ? other : most))
    return { call, setting }
  })
}

function admittedSettings(data: MeasuredData, row: number, factor: number): readonly number[] {
  const { rowStart, setting, timeUs, lowUs, highUs } = data
  const best = bestEntry(data, row)
  const settings: number[] = []
  for (let entry = rowStart[row]; entry < rowStart[row + 1]; entry++) {
    if (timeUs[entry] <= timeUs[best] * factor || lowUs[entry] <= highUs[best]) settings.push(setting[entry])
  }
  return settings
}

/** A test of a learner: a number against a limit, or the value of a word. */
export interface ColumnTest {
  readonly column: AttributeColumn
  /** The limit of a number: cases up to it go left. */
  readonly atMost: number
}

/**
 * Returns a test as a node of a tree.
 *
 * @param leaf the decision without the test, which now serves words that did not occur
 * @param children of a number: up to the limit, then above; of a word: of each word of the column
 */
export function decisionTest(
  { column, atMost }: ColumnTest,
  leaf: DecisionLeaf,
  children: readonly DecisionNode[],
): ThresholdTest | WordTest {
  const { attribute, words } = column
  if (isNumberAttribute(attribute)) {
    const [below, above] = children
    return { kind: 'threshold', attribute, atMost, below, above }
  }
  const branches = words
    .map((word, i) => ({ word, node: children[i] }))
    .filter(({ node }) => node.kind !== 'leaf' || node.cases > 0)
  const otherwise: DecisionLeaf = { ...leaf, cases: 0, errors: 0 }
  return { kind: 'words', attribute: attribute satisfies WordAttribute, branches, otherwise }
}

const mostCases = 2 ** 20

/**
 * Checks the arguments that learners of trees share.
 *
 * @throws ERR_TUNING for no cases and too many, ERR_ARGUMENT for the rest
 */
export function requireLearnable(
  cases: number,
  minCases: number,
  maxDepth: number,
  attributes: readonly Attribute[],
): void {
  if (!Number.isInteger(minCases) || minCases < 1 || minCases > mostCases)
    throw wrongValue('ERR_ARGUMENT', `expected minCases as an integer from 1 to ${mostCases}`, minCases)
  if (!Number.isInteger(maxDepth) || maxDepth < 0 || maxDepth > treeLimits.depth)
    throw wrongValue(
      'ERR_ARGUMENT',
      `expected maxDepth as an integer from 0 to ${treeLimits.depth}`,
      maxDepth,
    )
  const unknown = attributes.find((name) => !allAttributes.includes(name))
  if (unknown !== undefined)
    throw wrongValue('ERR_ARGUMENT', `expected attributes among ${allAttributes.join(', ')}`, unknown)
  if (cases === 0 || cases > mostCases)
    throw new RankweaveError('ERR_TUNING', `expected 1 to ${mostCases} cases, got ${cases}`)
}
