import { largestOf } from '../../base/search.js'
import { type NumberAttribute, numberOf, type WordAttribute, wordOf } from '../settings/attributes.js'
import type { TuningSetting } from '../settings/setting.js'
import type { TuningCall } from '../settings/tuning-call.js'

/** Decisions as a tree of tests. Learners produce it, generators translate it, a tuning file holds it as plain data. */
export interface DecisionTree {
  /** The settings that leaves name by index. */
  readonly settings: readonly TuningSetting[]
  readonly root: DecisionNode
}

export type DecisionNode = DecisionLeaf | ThresholdTest | WordTest

export interface DecisionLeaf {
  readonly kind: 'leaf'
  readonly setting: number
  /** The number of training cases that end here; 0 if the tree was not learned from cases. */
  readonly cases: number
  /** The number of these cases whose best setting is another one. */
  readonly errors: number
}

/** A test of a number: at most a value that occurs in the training data, or above it. */
export interface ThresholdTest {
  readonly kind: 'threshold'
  readonly attribute: NumberAttribute
  readonly atMost: number
  readonly below: DecisionNode
  readonly above: DecisionNode
}

export interface WordTest {
  readonly kind: 'words'
  readonly attribute: WordAttribute
  /** The branches, each word once, by ascending word. */
  readonly branches: readonly WordBranch[]
  /** The leaf of all other words, and of calls that do not state the word. */
  readonly otherwise: DecisionLeaf
}

export interface WordBranch {
  readonly word: string
  readonly node: DecisionNode
}

/**
 * The largest tree that is learned or read: tests from the root to a leaf, and nodes. A word is tested once on a path,
 * so as JSON a tree nests at most 38 deep.
 */
export const treeLimits = { depth: 24, nodes: 2 ** 16, settings: 4096 } as const

/** Returns the leaf of a call, which is the reason of its decision. */
export function leafOf({ root }: DecisionTree, call: TuningCall): DecisionLeaf {
  let node = root
  while (node.kind !== 'leaf') {
    if (node.kind === 'threshold')
      node = numberOf(call, node.attribute) <= node.atMost ? node.below : node.above
    else node = branchOf(node, wordOf(call, node.attribute))
  }
  return node
}

/** Returns all leaves from left to right, except those of words that did not occur. */
export function treeLeaves({ root }: DecisionTree): DecisionLeaf[] {
  const leaves: DecisionLeaf[] = []
  visitNodes(root, (node) => {
    if (node.kind === 'leaf') leaves.push(node)
  })
  return leaves
}

/** Returns the levels below a node, at most {@link treeLimits}. */
export function depthOf(node: DecisionNode): number {
  if (node.kind === 'leaf') return 0
  return 1 + largestOf(childrenOf(node).map(depthOf))
}

/** Visits every node except those of words that did not occur, a parent before its children. */
export function visitNodes(root: DecisionNode, visit: (node: DecisionNode) => void): void {
  visit(root)
  if (root.kind !== 'leaf') for (const child of childrenOf(root)) visitNodes(child, visit)
}

/** Returns the nodes below a test: up to the limit, then above; or the branches of words, then the leaf of others. */
export function inOrder(node: ThresholdTest | WordTest): readonly DecisionNode[] {
  return node.kind === 'threshold' ? childrenOf(node) : [...childrenOf(node), node.otherwise]
}

function childrenOf(node: ThresholdTest | WordTest): readonly DecisionNode[] {
  if (node.kind === 'threshold') return [node.below, node.above]
  return node.branches.map((branch) => branch.node)
}

function branchOf({ branches, otherwise }: WordTest, word: string): DecisionNode {
  for (let i = 0; i < branches.length; i++) if (branches[i].word === word) return branches[i].node
  return otherwise
}
