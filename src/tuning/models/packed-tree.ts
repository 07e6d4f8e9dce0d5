import type { SettingSelector } from '../measured/measured-data.js'
import {
  type Attribute,
  allAttributes,
  type CallWords,
  callProcesses,
  statedWordOf,
  type WordAttribute,
} from '../settings/tuning-call.js'
import { type DecisionLeaf, type DecisionNode, type DecisionTree, inOrder } from './decision-tree.js'

/**
 * A tree as binary tests in typed arrays, for look-ups in calls: 20 bytes a test. A test of a word with b branches
 * becomes b tests, one after the other.
 */
export interface PackedTree {
  /** The index in `allAttributes`, by test. */
  readonly attribute: Int32Array
  /** The limit of a number, or the index of the word. */
  readonly value: Float64Array
  /** The next test if the test holds, and if it does not; ~index for a leaf. */
  readonly yes: Int32Array
  readonly no: Int32Array
  /** The index of the setting, by leaf in the order of `inOrder`. */
  readonly leafSetting: Int32Array
  readonly words: readonly string[]
  readonly root: number
}

/** Returns a selector by the decisions of a tree. A decision allocates nothing. */
export function treeSelector(tree: DecisionTree): SettingSelector {
  const packed = packTree(tree)
  return (call) => {
    const { nodes, processesPerNode, bytes } = call
    return packed.leafSetting[findLeaf(packed, nodes, processesPerNode, callProcesses(call), bytes, call)]
  }
}

/**
 * Returns the index of the leaf of a call. Allocates nothing.
 *
 * @param processes fewer than `nodes` x `processesPerNode` if they are spread unevenly
 * @param call for its words only
 */
export function findLeaf(
  { attribute, value, yes, no, words, root }: PackedTree,
  nodes: number,
  processesPerNode: number,
  processes: number,
  bytes: number,
  call: CallWords,
): number {
  let node = root
  while (node >= 0) {
    let holds: boolean
    const limit = value[node]
    // The cases are the places in `allAttributes`.
    switch (attribute[node]) {
      case 0:
        holds = nodes <= limit
        break
      case 1:
        holds = processesPerNode <= limit
        break
      case 2:
        holds = processes <= limit
        break
      case 3:
        holds = bytes <= limit
        break
      case 4:
        holds = bytes * processes <= limit
        break
      case 5:
        holds = bytes * processesPerNode <= limit
        break
      case 6:
        holds = bytes * (processes - 1) <= limit
        break
      case 11:
        holds = (processes % 2 === 0) === (words[limit] === 'yes')
        break
      case 12:
        holds = ((processes & (processes - 1)) === 0) === (words[limit] === 'yes')
        break
      default:
        holds = statedWordOf(call, allAttributes[attribute[node]] as WordAttribute) === words[limit]
    }
    node = holds ? yes[node] : no[node]
  }
  return ~node
}

export function packTree({ root }: DecisionTree): PackedTree {
  const words: string[] = []
  const leaves: DecisionLeaf[] = []
  const tests: { attribute: number; value: number; yes: number; no: number }[] = []
  const add = (attribute: Attribute, value: number, yes: number, no: number): number =>
    tests.push({ attribute: allAttributes.indexOf(attribute), value, yes, no }) - 1
  // Leaves get their numbers from left to right; a test gets its own after the tests of its branches.
  const packed = (node: DecisionNode): number => {
    if (node.kind === 'leaf') return ~(leaves.push(node) - 1)
    const children = inOrder(node).map(packed)
    if (node.kind === 'threshold') return add(node.attribute, node.atMost, children[0], children[1])
    return node.branches.reduceRight(
      (no, { word }, i) => add(node.attribute, words.push(word) - 1, children[i], no),
      children[node.branches.length],
    )
  }
  const first = packed(root)
  return {
    attribute: Int32Array.from(tests, (test) => test.attribute),
    value: Float64Array.from(tests, (test) => test.value),
    yes: Int32Array.from(tests, (test) => test.yes),
    no: Int32Array.from(tests, (test) => test.no),
    leafSetting: Int32Array.from(leaves, (leaf) => leaf.setting),
    words,
    root: first,
  }
}
