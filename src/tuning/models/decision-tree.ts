import type { SettingSelector } from '../measured/measured-data.js'
import type { TuningSetting } from '../settings/setting.js'
import {
  type Attribute,
  allAttributes,
  type CallWords,
  callProcesses,
  type NumberAttribute,
  statedWordOf,
  type WordAttribute,
} from '../settings/tuning-call.js'

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

/** Returns all leaves from left to right, except those of words that did not occur. */
export function treeLeaves({ root }: DecisionTree): DecisionLeaf[] {
  const leaves: DecisionLeaf[] = []
  visitNodes(root, (node) => {
    if (node.kind === 'leaf') leaves.push(node)
  })
  return leaves
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

/** The conditions on an attribute that the tests on the path to a leaf set. */
type Conditions = ReadonlyMap<
  string,
  { readonly above?: number; readonly atMost?: number; readonly word?: string }
>

/**
 * Returns in words, for every leaf by its index in the order of `inOrder`, the calls for which it decides: `processes >
 * 4, 2048 < bytes <= 8192, order = any`.
 */
export function leafConditions({ root }: DecisionTree): readonly string[] {
  const texts: string[] = []
  const visit = (node: DecisionNode, path: Conditions): void => {
    if (node.kind === 'leaf') {
      texts.push(conditionsText(path))
      return
    }
    const { attribute } = node
    const before = path.get(attribute)
    inOrder(node).forEach((child, i) => {
      if (node.kind === 'words')
        visit(child, new Map(path).set(attribute, { word: `= ${node.branches[i]?.word ?? 'another'}` }))
      else if (i === 0)
        visit(
          child,
          new Map(path).set(attribute, {
            ...before,
            atMost: Math.min(node.atMost, before?.atMost ?? Infinity),
          }),
        )
      else
        visit(
          child,
          new Map(path).set(attribute, { ...before, above: Math.max(node.atMost, before?.above ?? 0) }),
        )
    })
  }
  visit(root, new Map())
  return texts
}

function conditionsText(path: Conditions): string {
  const parts = [...path].map(([attribute, { above, atMost, word }]) => {
    if (word !== undefined) return `${attribute} ${word}`
    if (atMost === undefined) return `${attribute} > ${above}`
    return above === undefined ? `${attribute} <= ${atMost}` : `${above} < ${attribute} <= ${atMost}`
  })
  return parts.join(', ') || 'every call'
}

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
