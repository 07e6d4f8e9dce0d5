import { RankweaveError } from '../../errors.js'
import type { DecisionNode, DecisionTree } from '../models/decision-tree.js'
import {
  callLimits,
  callProcesses,
  type NumberAttribute,
  numberOf,
  type TuningCall,
  type WordAttribute,
  wordOf,
} from '../settings/tuning-call.js'

/** A setting for calls of so many bytes and more. */
export interface DecisionStep {
  readonly fromBytes: number
  /** The index in the settings of the tree. */
  readonly setting: number
}

/**
 * Returns the decisions of a tree for one layout, by bytes: at least one step, the first one from 0 bytes on; neighbors
 * differ.
 *
 * @param call its bytes do not matter
 * @param where the file and collective, for messages
 * @throws ERR_TUNING if the decision depends on the operation or its order, which the call does not state
 */
export function decisionSteps(tree: DecisionTree, call: TuningCall, where: string): readonly DecisionStep[] {
  const steps: DecisionStep[] = []
  const walk = (node: DecisionNode, from: number, to: number): void => {
    if (from > to) return
    if (node.kind === 'leaf') {
      if (steps.at(-1)?.setting !== node.setting) steps.push({ fromBytes: from, setting: node.setting })
    } else if (node.kind === 'words') walk(branchFor(node.attribute, node, call, where), from, to)
    else {
      const last = lastBelow(call, node.attribute, node.atMost)
      walk(node.below, from, Math.min(to, last))
      walk(node.above, Math.max(from, last + 1), to)
    }
  }
  walk(tree.root, 0, callLimits.bytes)
  return steps
}

/** Returns the most bytes with which a test of a number holds, or -1. */
function lastBelow(call: TuningCall, attribute: NumberAttribute, atMost: number): number {
  const holds = (bytes: number) => numberOf({ ...call, bytes }, attribute) <= atMost
  if (!holds(0)) return -1
  if (holds(callLimits.bytes)) return callLimits.bytes
  // Bisection works because attributes grow with the bytes.
  let low = 0
  let high: number = callLimits.bytes
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2)
    if (holds(middle)) low = middle
    else high = middle
  }
  return low
}

function branchFor(
  attribute: WordAttribute,
  node: Extract<DecisionNode, { kind: 'words' }>,
  call: TuningCall,
  where: string,
): DecisionNode {
  if (attribute === 'operation' || attribute === 'order') {
    const message = `${where}: expected no test of the ${attribute}, which the file to be written cannot say`
    throw new RankweaveError('ERR_TUNING', message)
  }
  const word = wordOf(call, attribute)
  return node.branches.find((branch) => branch.word === word)?.node ?? node.otherwise
}

/** The layouts for which a file of an MPI library is written: it knows ranks, but no nodes. */
export interface WrittenLayout {
  /** The numbers of nodes, ascending, each at least 1. */
  readonly nodes: readonly number[]
  readonly processesPerNode: number
}

/** The decisions for a number of ranks. */
export interface LayoutSteps {
  /** The least number of ranks; below, the greatest, null for any. */
  readonly leastRanks: number
  readonly greatestRanks: number | null
  readonly ranks: number
  readonly steps: readonly DecisionStep[]
}

/** Nodes, and processes of each. */
export interface MeasuredLayout {
  readonly nodes: number
  readonly processesPerNode: number
}

/**
 * Returns the steps of every layout. A number of ranks between two layouts counts as the larger one, one beyond them as
 * the nearest.
 *
 * @throws ERR_TUNING for an invalid layout, and as decisionSteps does
 */
export function layoutSteps(
  tree: DecisionTree,
  layout: WrittenLayout,
  where: string,
): readonly LayoutSteps[] {
  const { nodes, processesPerNode } = layout
  const isAscending = nodes.every((count, i) => isCount(count) && (i === 0 || count > nodes[i - 1]))
  if (nodes.length === 0 || !isAscending || !isCount(processesPerNode)) {
    const message = `${where}: expected ascending numbers of nodes, and processes per node of at least 1`
    throw new RankweaveError('ERR_TUNING', message)
  }
  return stepsByRanks(
    tree,
    nodes.map((count) => ({ nodes: count, processesPerNode })),
    where,
  )
}

/** Returns the steps of layouts with ascending numbers of ranks, as {@link layoutSteps} does. */
export function stepsByRanks(
  tree: DecisionTree,
  layouts: readonly MeasuredLayout[],
  where: string,
): readonly LayoutSteps[] {
  const { collective } = tree.settings[0]
  const calls = layouts.map((layout): TuningCall => {
    const isMemoryShared = layout.nodes === 1
    return { collective, ...layout, bytes: 0, isMemoryShared }
  })
  return calls.map((call, i) => ({
    leastRanks: i === 0 ? 0 : callProcesses(calls[i - 1]) + 1,
    greatestRanks: i === calls.length - 1 ? null : callProcesses(call),
    ranks: callProcesses(call),
    steps: decisionSteps(tree, call, where),
  }))
}

function isCount(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 1 && value <= callLimits.processes
}

/**
 * The statements of a user about all programs that use a file of rules. Rules see neither the operation of a reduction
 * nor the arguments of other ranks. Without such a statement they name no setting that depends on it.
 *
 * - `commutative`: reductions are by operations that are commutative.
 * - `equal-arguments`: the ranks of a call pass equal counts and datatypes, in place also those that MPI ignores.
 */
export const ruleAssumptions = ['commutative', 'equal-arguments'] as const

export type RuleAssumption = (typeof ruleAssumptions)[number]

/** A file of rules, and the number of its rules that leave the choice to the library because a statement is missing. */
export interface WrittenRules {
  readonly text: string
  readonly left: Readonly<Record<RuleAssumption, number>>
}
