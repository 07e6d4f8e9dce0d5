import {
  type DecisionLeaf,
  type DecisionNode,
  type DecisionTree,
  inOrder,
  type WordTest,
} from '../../src/tuning/models/decision-tree.js'
import { numberOf, type TuningCall, wordOf } from '../../src/tuning/settings/tuning-call.js'

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

/** Returns the levels below a node. */
export function depthOf(node: DecisionNode): number {
  return node.kind === 'leaf' ? 0 : 1 + Math.max(...inOrder(node).map(depthOf))
}

function branchOf({ branches, otherwise }: WordTest, word: string): DecisionNode {
  for (let i = 0; i < branches.length; i++) if (branches[i].word === word) return branches[i].node
  return otherwise
}
