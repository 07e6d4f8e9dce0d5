import {
  type DecisionLeaf,
  type DecisionNode,
  type DecisionTree,
  treeLimits,
} from '../models/decision-tree.js'
import { type Attribute, allAttributes } from '../settings/attributes.js'
import { pessimisticErrors, requireConfidence } from '../settings/error-bound.js'
import type { TuningSetting } from '../settings/setting.js'
import { decisionTest } from './decision-test.js'
import { type GrownNode, growTree } from './grow-tree.js'
import { requireLearnable } from './learner-options.js'
import { columnOf, type TrainingCase } from './training-cases.js'

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
