import { meanOf } from '../../base/search.js'
import { isNumberAttribute } from '../settings/attributes.js'
import { type CandidateSplit, candidateSplit, leastGain } from './candidate-split.js'
import type { AttributeColumn } from './training-cases.js'

/** A node of a tree that is being learned. */
export interface GrownNode {
  readonly cases: number
  /** Its most frequent class, of equally frequent ones the lowest. */
  readonly majority: number
  /** Cases of other classes: those that it would miss as a leaf. */
  readonly errors: number
  /** Those that its leaves miss. */
  readonly treeErrors: number
  /** Null: a leaf. */
  readonly split: GrownSplit | null
}

export interface GrownSplit {
  readonly test: CandidateSplit
  /** Of a number: up to `atMost`, then above; of a word: one for each word of the column. */
  readonly children: readonly GrownNode[]
}

export interface TrainingSet {
  readonly columns: readonly AttributeColumn[]
  /** By case. */
  readonly classOf: Int32Array
  readonly classes: number
  readonly minCases: number
  /** Tests on a path. */
  readonly maxDepth: number
}

/**
 * Hunt's method with C4.5's choice of tests: of the tests whose gain is at least the average, that with the highest
 * gain ratio, of equal ones the first. Below it a leaf, where no test leaves fewer errors.
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

/** A ratio alone would favor tests that gain little, so only tests of at least the average gain take part. */
function chosen(tests: readonly CandidateSplit[]): CandidateSplit | null {
  const average = meanOf(tests.map(({ gain }) => gain)) - slack
  let best: CandidateSplit | null = null
  for (const test of tests)
    if (test.gain >= average && test.gainRatio > (best?.gainRatio ?? 0) + leastGain) best = test
  return best
}

/** By how much a gain may be below the average: release 8's. */
const slack = 1e-3

function divided({ column, atMost }: CandidateSplit, indices: Int32Array): readonly Int32Array[] {
  const { attribute, values, words } = column
  if (isNumberAttribute(attribute))
    return [indices.filter((i) => values[i] <= atMost), indices.filter((i) => values[i] > atMost)]
  return words.map((_, word) => indices.filter((i) => values[i] === word))
}
