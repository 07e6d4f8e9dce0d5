import { type Attribute, allAttributes, type WordAttribute, wordOf } from './attributes.js'
import type { DecisionNode, DecisionTree } from './decision-tree.js'
import type { SettingSelector } from './selector.js'
import type { TuningCall } from './tuning-call.js'

/**
 * A tree as binary tests in typed arrays, for look-ups in calls: 20 bytes a test. A test of a word with b branches
 * is b tests, one after the other.
 */
interface PackedTree {
  /** Index in `allAttributes`, by test. */
  readonly attribute: Int32Array
  /** What a number is at most, or the index of the word. */
  readonly value: Float64Array
  /** The next test where it holds, and where it does not; ~setting of a leaf. */
  readonly yes: Int32Array
  readonly no: Int32Array
  readonly words: readonly string[]
  readonly root: number
}

/** The decisions of a tree. A decision allocates nothing. */
export function treeSelector(tree: DecisionTree): SettingSelector {
  const packed = packedTree(tree)
  return (call) => decide(packed, call)
}

function decide({ attribute, value, yes, no, words, root }: PackedTree, call: TuningCall): number {
  const { nodes, processesPerNode, bytes } = call
  const processes = nodes * processesPerNode
  let node = root
  while (node >= 0) {
    let holds: boolean
    const limit = value[node]
    // By their places in `allAttributes`.
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
        holds = wordOf(call, allAttributes[attribute[node]] as WordAttribute) === words[limit]
    }
    node = holds ? yes[node] : no[node]
  }
  return ~node
}

function packedTree({ root }: DecisionTree): PackedTree {
  const words: string[] = []
  const tests: { attribute: number; value: number; yes: number; no: number }[] = []
  const add = (attribute: Attribute, value: number, yes: number, no: number): number =>
    tests.push({ attribute: allAttributes.indexOf(attribute), value, yes, no }) - 1
  const packed = (node: DecisionNode): number => {
    if (node.kind === 'leaf') return ~node.setting
    if (node.kind === 'threshold')
      return add(node.attribute, node.atMost, packed(node.below), packed(node.above))
    return node.branches.reduceRight(
      (no, branch) => add(node.attribute, words.push(branch.word) - 1, packed(branch.node), no),
      packed(node.otherwise),
    )
  }
  const first = packed(root)
  return {
    attribute: Int32Array.from(tests, (test) => test.attribute),
    value: Float64Array.from(tests, (test) => test.value),
    yes: Int32Array.from(tests, (test) => test.yes),
    no: Int32Array.from(tests, (test) => test.no),
    words,
    root: first,
  }
}
