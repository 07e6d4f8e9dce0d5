import { meanOf } from '../../base/search.js'
import { isNumberAttribute } from '../settings/attributes.js'
import { type CandidateSplit, candidateSplit, leastGain } from './candidate-split.js'
import type { AttributeColumn } from './training-cases.js'

/** A node of a tree that is being learned. */
export interface GrownNode {
  readonly cases: number
  /** The most frequent class, of equally frequent ones the lowest. */
  readonly majority: number
  /** The cases of other classes, which the node would miss as a leaf. */
  readonly errors: number
  /** The cases that its leaves miss. */
  readonly treeErrors: number
  readonly split: GrownSplit | null
}

export interface GrownSplit {
  readonly test: CandidateSplit
  /** The children: of a number, up to `atMost`, then above; of a word, one for each word of the column. */
  readonly children: readonly GrownNode[]
}

export interface TrainingSet {
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
export function growTree(set: TrainingSet): GrownNode {
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
