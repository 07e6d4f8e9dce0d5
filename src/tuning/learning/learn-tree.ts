import { meanOf } from '../../base/search.js'
import { wrongValue } from '../../errors.js'
import {
  type DecisionLeaf,
  type DecisionNode,
  type DecisionTree,
  treeLimits,
} from '../models/decision-tree.js'
import type { TuningSetting } from '../settings/setting.js'
import { type Attribute, allAttributes, isNumberAttribute } from '../settings/tuning-call.js'
import {
  type AttributeColumn,
  columnOf,
  decisionTest,
  requireLearnable,
  type TrainingCase,
} from './training-cases.js'

export interface LearnTreeOptions {
  /** The least number of cases in two outcomes of every test (C4.5's -m), 1 to 2^20. Default 2. */
  readonly minCases?: number
  /** The confidence (C4.5's -c): above 0, at most 50; lower prunes more. Null: no pruning. Default 25. */
  readonly confidencePercent?: number | null
  /** The most tests on a path, 0 to 24. Default 24. */
  readonly maxDepth?: number
  /** The attributes to test; earlier ones win ties. Default: all, composites included. */
  readonly attributes?: readonly Attribute[]
}

export interface LearnedTree {
  readonly tree: DecisionTree
  readonly cases: number
  readonly leavesBeforePruning: number
  readonly leaves: number
  /** The number of cases whose best setting the tree does not choose. */
  readonly trainingErrors: number
  /** The number of as many new cases that it is expected to miss, at the confidence of pruning, 25% without. */
  readonly predictedErrors: number
}

export const defaultMinCases = 2
export const defaultConfidencePercent = 25

/**
 * Learns a decision tree from cases by C4.5.
 *
 * A subtree becomes a leaf of its most frequent setting if that adds at most 0.1 to the pessimistic number of errors
 * (`pessimisticErrors`). Subtrees do not take the place of their parents.
 *
 * Time: cases x attributes x depth, with a logarithm; depth is at most 24. Memory: 8 bytes a case and attribute.
 *
 * @param cases at most 2^20
 * @param settings that cases name by index
 * @throws ERR_TUNING for no cases, and more than 2^20
 * @throws ERR_ARGUMENT for options out of range
 * @see Pjesivac-Grbovic 2007 §5.4; Quinlan 1993
 */
export function learnTree(
  cases: readonly TrainingCase[],
  settings: readonly TuningSetting[],
  options: LearnTreeOptions = {},
): LearnedTree {
  const { minCases = defaultMinCases, confidencePercent = defaultConfidencePercent } = options
  const { attributes = allAttributes, maxDepth = treeLimits.depth } = options
  requireLearnable(cases.length, minCases, maxDepth, attributes)
  if (confidencePercent !== null) requireConfidence(confidencePercent)

  const classes = [...new Set(cases.map(({ setting }) => setting))].sort((a, b) => a - b)
  const classIndex = new Map(classes.map((setting, i) => [setting, i]))
  const grown = growTree({
    columns: attributes.map((attribute) => columnOf(cases, attribute)),
    classOf: Int32Array.from(cases, ({ setting }) => classIndex.get(setting)!),
    classes: classes.length,
    minCases,
    maxDepth,
  })
  const percent = confidencePercent ?? defaultConfidencePercent
  const pruned = confidencePercent === null ? grown : prunedTree(grown, percent).node
  const leaves = leavesBelow(pruned)
  return {
    tree: { settings, root: decisionNodeOf(pruned, classes) },
    cases: cases.length,
    leavesBeforePruning: leavesBelow(grown).length,
    leaves: leaves.length,
    trainingErrors: leaves.reduce((sum, { errors }) => sum + errors, 0),
    predictedErrors: leaves.reduce(
      (sum, leaf) => sum + pessimisticErrors(leaf.cases, leaf.errors, percent),
      0,
    ),
  }
}

/** The number of errors by which a leaf may be worse than the subtree that it replaces: release 8's. */
const pruningSlack = 0.1

interface Pruned {
  readonly node: GrownNode
  readonly expectedErrors: number
}

function prunedTree(node: GrownNode, percent: number): Pruned {
  const asLeaf = pessimisticErrors(node.cases, node.errors, percent)
  if (node.split === null) return { node, expectedErrors: asLeaf }
  const children = node.split.children.map((child) => prunedTree(child, percent))
  const asTree = children.reduce((sum, { expectedErrors }) => sum + expectedErrors, 0)
  if (asLeaf <= asTree + pruningSlack) return { node: { ...node, split: null }, expectedErrors: asLeaf }
  const split = { ...node.split, children: children.map((child) => child.node) }
  return { node: { ...node, split }, expectedErrors: asTree }
}

/** Returns the leaves that have cases. */
function leavesBelow(node: GrownNode): readonly GrownNode[] {
  if (node.split !== null) return node.split.children.flatMap(leavesBelow)
  return node.cases === 0 ? [] : [node]
}

function decisionNodeOf(node: GrownNode, classes: readonly number[]): DecisionNode {
  const { cases, errors, split } = node
  const leaf: DecisionLeaf = { kind: 'leaf', setting: classes[node.majority], cases, errors }
  if (split === null) return leaf
  const children = split.children.map((child) => decisionNodeOf(child, classes))
  return decisionTest(split.test, leaf, children)
}

/** A node of a tree that is being learned. */
interface GrownNode {
  readonly cases: number
  /** The most frequent class, of equally frequent ones the lowest. */
  readonly majority: number
  /** The cases of other classes, which the node would miss as a leaf. */
  readonly errors: number
  /** The cases that its leaves miss. */
  readonly treeErrors: number
  readonly split: GrownSplit | null
}

interface GrownSplit {
  readonly test: CandidateSplit
  /** The children: of a number, up to `atMost`, then above; of a word, one for each word of the column. */
  readonly children: readonly GrownNode[]
}

interface TrainingSet {
  readonly columns: readonly AttributeColumn[]
  readonly classOf: Int32Array
  readonly classes: number
  readonly minCases: number
  /** The most tests on a path. */
  readonly maxDepth: number
}

/**
 * Grows a tree by Hunt's method with C4.5's choice of tests. Among tests of at least the average gain, the first with
 * the highest gain ratio wins. A node without a test that leaves fewer errors becomes a leaf.
 *
 * @see Pjesivac-Grbovic 2007 §5.4
 */
function growTree(set: TrainingSet): GrownNode {
  return grow(set, Int32Array.from(set.classOf.keys()), 0)
}

function grow(set: TrainingSet, indices: Int32Array, depth: number): GrownNode {
  const { classOf, classes, minCases } = set
  const cases = indices.length
  const counts = new Int32Array(classes)
  for (const index of indices) counts[classOf[index]]++
  let majority = 0
  for (let i = 1; i < classes; i++) if (counts[i] > counts[majority]) majority = i
  const errors = cases - counts[majority]
  const leaf: GrownNode = { cases, majority, errors, treeErrors: errors, split: null }
  if (errors === 0 || cases < 2 * minCases || depth === set.maxDepth) return leaf
  const tests = set.columns
    .map((column) => candidateSplit({ indices, classOf, classes, counts, minCases }, column))
    .filter((test) => test !== null)
  const test = chosen(tests)
  if (test === null) return leaf
  const children = divided(test, indices).map((part) => grow(set, part, depth + 1))
  const treeErrors = children.reduce((sum, child) => sum + child.treeErrors, 0)
  return treeErrors >= errors ? leaf : { ...leaf, treeErrors, split: { test, children } }
}

/** Chooses among tests of at least the average gain: the ratio alone would favor tests that gain little. */
function chosen(tests: readonly CandidateSplit[]): CandidateSplit | null {
  const average = meanOf(tests.map(({ gain }) => gain)) - slack
  let best: CandidateSplit | null = null
  for (const test of tests)
    if (test.gain >= average && test.gainRatio > (best?.gainRatio ?? 0) + leastGain) best = test
  return best
}

/** The amount by which a gain may be below the average: release 8's. */
const slack = 1e-3

function divided({ column, atMost }: CandidateSplit, indices: Int32Array): readonly Int32Array[] {
  const { attribute, values, words } = column
  if (isNumberAttribute(attribute))
    return [indices.filter((i) => values[i] <= atMost), indices.filter((i) => values[i] > atMost)]
  return words.map((_, word) => indices.filter((i) => values[i] === word))
}

/** The best test of one attribute for the cases of a node. */
export interface CandidateSplit {
  readonly column: AttributeColumn
  /** The gain in bits per case. */
  readonly gain: number
  /** The gain divided by the information of the division itself. */
  readonly gainRatio: number
  /** The limit of a number: cases up to it go left. */
  readonly atMost: number
}

/** The cases of a node, and classes by case. */
interface NodeCases {
  readonly indices: Int32Array
  /** The class of every case of the tree, not only of this node. */
  readonly classOf: Int32Array
  readonly classes: number
  /** The number of cases of this node, by class. */
  readonly counts: Int32Array
  readonly minCases: number
}

/** The least gain that is not rounding. */
const leastGain = 1e-6

/**
 * Returns the best test of an attribute, or null if none has a gain and `minCases` cases in two outcomes.
 *
 * A number is tested against the value with the highest gain. The choice among t values costs lg t bits, which the gain
 * of the node's cases must pay. Each side needs a tenth of the cases per class, at least `minCases` and at most 25: as
 * in release 8 of C4.5.
 *
 * @see Pjesivac-Grbovic 2007 Eqs. 5.13 to 5.17; Quinlan 1996, Improved use of continuous attributes in C4.5
 */
export function candidateSplit(node: NodeCases, column: AttributeColumn): CandidateSplit | null {
  return isNumberAttribute(column.attribute) ? numberSplit(node, column) : wordSplit(node, column)
}

function numberSplit(node: NodeCases, column: AttributeColumn): CandidateSplit | null {
  const { indices, classOf, classes, counts, minCases } = node
  const { values, distinct } = column
  const cases = indices.length
  const least = Math.max(minCases, Math.min(25, (0.1 * cases) / classes))
  if (cases < 2 * least) return null
  const sorted = indices.toSorted((a, b) => values[a] - values[b])
  const left = new Int32Array(classes)
  const right = counts.slice()
  const before = totalInformation(counts)
  let [tried, best, place] = [0, 0, -1]
  for (let i = 0; i + 1 < cases; i++) {
    const group = classOf[sorted[i]]
    left[group]++
    right[group]--
    if (values[sorted[i]] === values[sorted[i + 1]]) continue
    if (i + 1 < least || cases - i - 1 < least) continue
    tried++
    const saved = before - totalInformation(left) - totalInformation(right)
    if (saved <= best) continue
    best = saved
    place = i
  }
  if (place < 0) return null
  const gain = (best - Math.log2(tried)) / cases
  if (gain <= leastGain) return null
  const ratio = (gain * cases) / totalInformation([place + 1, cases - place - 1])
  const middle = (values[sorted[place]] + values[sorted[place + 1]]) / 2
  return { column, gain, gainRatio: ratio, atMost: distinct.findLast((value) => value <= middle)! }
}

function wordSplit(node: NodeCases, column: AttributeColumn): CandidateSplit | null {
  const { indices, classOf, classes, counts, minCases } = node
  const { values, words } = column
  const byWord = words.map(() => new Int32Array(classes))
  const sizes = new Int32Array(words.length)
  for (const index of indices) {
    byWord[values[index]][classOf[index]]++
    sizes[values[index]]++
  }
  if (sizes.filter((size) => size >= minCases).length < 2) return null
  const after = byWord.reduce((sum, part) => sum + totalInformation(part), 0)
  const saved = totalInformation(counts) - after
  if (saved / indices.length <= leastGain) return null
  const gainRatio = saved / totalInformation(sizes)
  return { column, gain: saved / indices.length, gainRatio, atMost: 0 }
}

/**
 * Returns the sum of n lg(N / n) over counts n with sum N. It is the information, in bits, that N cases carry on their
 * class: info(T) of the source times N.
 *
 * @see Pjesivac-Grbovic 2007 Eq. 5.13
 */
function totalInformation(counts: ArrayLike<number>): number {
  let cases = 0
  let sum = 0
  for (let i = 0; i < counts.length; i++) {
    const count = counts[i]
    if (count === 0) continue
    cases += count
    sum += count * Math.log2(count)
  }
  return cases === 0 ? 0 : cases * Math.log2(cases) - sum
}

/**
 * Returns the errors that a leaf with these training cases is expected to make of as many new ones. They are `cases`
 * times the upper limit of the share of errors, at a confidence of `confidencePercent`. The limit is the exact binomial
 * one: the share at which at most `errors` of `cases` fail with that probability.
 *
 * Release 8 of C4.5, and J48, approximate it if there are errors: 2.40 of (8, 1).
 *
 * 1.309 of (12, 0), 2.42 of (8, 1), 1.377 of (100, 0) at 25%.
 *
 * @param errors an integer from 0 to `cases`
 * @param confidencePercent above 0, at most 50; lower is more pessimistic
 * @throws ERR_ARGUMENT for a confidence out of range
 * @see Pjesivac-Grbovic 2007 §5.4; Quinlan 1993 §4.2
 */
export function pessimisticErrors(cases: number, errors: number, confidencePercent: number): number {
  requireConfidence(confidencePercent)
  const confidence = confidencePercent / 100
  if (cases === 0) return 0
  if (errors === 0) return cases * (1 - confidence ** (1 / cases))
  if (errors >= cases) return cases
  // The limit is not below the observed share: there, half of all samples or more have as many errors.
  let [low, high] = [errors / cases, 1]
  const wanted = Math.log(confidence) - logBinomial(cases, errors)
  for (let step = 0; step < mostSteps; step++) {
    const middle = (low + high) / 2
    if (middle <= low || middle >= high) break
    if (logOfSum(errors, cases, middle) > wanted) low = middle
    else high = middle
  }
  return (cases * (low + high)) / 2
}

/** @throws ERR_ARGUMENT unless above 0 and at most 50 */
function requireConfidence(percent: number): void {
  if (percent > 0 && percent <= 50) return
  throw wrongValue('ERR_ARGUMENT', 'expected confidencePercent above 0 and at most 50', percent)
}

/** Halvings that leave no double between both ends. */
const mostSteps = 64

/**
 * Returns the logarithm of the probability of at most `errors`, divided by the binomial coefficient. It serves shares
 * of at least `errors / cases`, at which terms shrink from the last one down.
 */
function logOfSum(errors: number, cases: number, share: number): number {
  const odds = (1 - share) / share
  let term = 1
  let sum = 1
  for (let i = errors; i > 0 && term > sum * 1e-17; i--) {
    term *= (i / (cases - i + 1)) * odds
    sum += term
  }
  return errors * Math.log(share) + (cases - errors) * Math.log1p(-share) + Math.log(sum)
}

function logBinomial(n: number, k: number): number {
  let sum = 0
  for (let i = 1; i <= Math.min(k, n - k); i++) sum += Math.log((n - i + 1) / i)
  return sum
}
