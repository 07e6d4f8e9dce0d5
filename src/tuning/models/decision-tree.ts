import { largestOf } from '../../base/search.js'
import { type NumberAttribute, numberOf, type WordAttribute, wordOf } from '../settings/attributes.js'
import type { TuningSetting } from '../settings/setting.js'
import type { TuningCall } from '../settings/tuning-call.js'

/**
 * Decisions as a tree of tests: what learners produce, generators translate and a tuning file holds. Plain data:
 * JSON keeps it whole.
 */
export interface DecisionTree {
  /** What leaves name by index. */
  readonly settings: readonly TuningSetting[]
  readonly root: DecisionNode
}

export type DecisionNode = DecisionLeaf | ThresholdTest | WordTest

export interface DecisionLeaf {
  readonly kind: 'leaf'
  readonly setting: number
  /** Training cases that end here; 0 where the tree was not learned from cases. */
  readonly cases: number
  /** Those of them whose best setting is another one. */
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

/** A test of a word. */
export interface WordTest {
  readonly kind: 'words'
  readonly attribute: WordAttribute
  /** Each word once, by ascending word. */
  readonly branches: readonly WordBranch[]
  /** Of all other words, and where the call does not state it. */
  readonly otherwise: DecisionLeaf
}

export interface WordBranch {
  readonly word: string
  readonly node: DecisionNode
}

/**
 * Largest tree that is learned or read: tests from the root to a leaf, and nodes. A word is tested once on a path, so
 * as JSON a tree nests at most 38 deep.
 */
export const treeLimits = { depth: 24, nodes: 2 ** 16, settings: 4096 } as const

/** The leaf of a call: the reason of a decision. */
export function leafOf({ root }: DecisionTree, call: TuningCall): DecisionLeaf {
  let node = root
  while (node.kind !== 'leaf') {
    if (node.kind === 'threshold')
      node = numberOf(call, node.attribute) <= node.atMost ? node.below : node.above
    else node = branchOf(node, wordOf(call, node.attribute))
  }
  return node
}

/** All leaves from left to right, but for those of words that did not occur. */
export function treeLeaves({ root }: DecisionTree): DecisionLeaf[] {
  const leaves: DecisionLeaf[] = []
  visitNodes(root, (node) => {
    if (node.kind === 'leaf') leaves.push(node)
  })
  return leaves
}

/** Levels below a node, at most {@link treeLimits}. */
export function depthOf(node: DecisionNode): number {
  if (node.kind === 'leaf') return 0
  return 1 + largestOf(childrenOf(node).map(depthOf))
}

/** Every node but those of words that did not occur, a parent before its children. */
export function visitNodes(root: DecisionNode, visit: (node: DecisionNode) => void): void {
  visit(root)
  if (root.kind !== 'leaf') for (const child of childrenOf(root)) visitNodes(child, visit)
}

/** What is below a test, in order: up to the limit, then above; the branches of words, then the leaf of all others. */
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
