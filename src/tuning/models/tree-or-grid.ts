import type { NumberAttribute } from '../settings/attributes.js'
import { defaultAlgorithm } from '../settings/setting.js'
import { type DecisionGrid, type OpenGrid, openGrid } from './decision-grid.js'
import type { DecisionNode, DecisionTree } from './decision-tree.js'

/** The decisions of a tuning file for a collective: a tree learned from measurements, or a grid learned from runs. */
export type TreeOrGrid = DecisionTree | DecisionGrid

export function isGrid(decisions: TreeOrGrid): decisions is DecisionGrid {
  return 'kind' in decisions
}

/** Returns decisions as a tree, whatever form they have. */
export function treeOfDecisions(decisions: TreeOrGrid): DecisionTree {
  return isGrid(decisions) ? gridTree(openGrid('grid', decisions)) : decisions
}

/** Intervals of an axis, from the first to before the last. */
type Range = readonly [number, number]

/**
 * Returns the best settings of a grid as a tree of tests with the same decision for every call. It serves generators,
 * and readers that know trees. Neighboring cells of one setting become one leaf. At most 14 tests on a path for 18 x 17
 * x 9 cells.
 *
 * A cell without a setting is left to the default, which is a further setting of the tree.
 *
 * Leaves have no cases: 0.
 */
export function gridTree({ settings, axes, best }: OpenGrid): DecisionTree {
  const [{ collective }] = settings
  const own = settings.findIndex(({ algorithm }) => algorithm === defaultAlgorithm)
  const byDefault = own < 0 ? settings.length : own
  const { bytes, nodes, processesPerNode } = axes
  const cellAt = (ofBytes: number, ofNodes: number, perNode: number): number => {
    const number = best[(perNode * nodes.length + ofNodes) * bytes.length + ofBytes]
    return number === 0 ? byDefault : number - 1
  }
  const settingOf = ([fromBytes, toBytes]: Range, [fromNodes, toNodes]: Range, [from, to]: Range): number => {
    const first = cellAt(fromBytes, fromNodes, from)
    for (let perNode = from; perNode < to; perNode++)
      for (let ofNodes = fromNodes; ofNodes < toNodes; ofNodes++)
        for (let ofBytes = fromBytes; ofBytes < toBytes; ofBytes++)
          if (cellAt(ofBytes, ofNodes, perNode) !== first) return -1
    return first
  }
  const nodeOf = (ofBytes: Range, ofNodes: Range, perNode: Range): DecisionNode => {
    const setting = settingOf(ofBytes, ofNodes, perNode)
    if (setting >= 0) return { kind: 'leaf', setting, cases: 0, errors: 0 }
    const halved = (
      attribute: NumberAttribute,
      edges: readonly number[],
      [from, to]: Range,
      part: (range: Range) => DecisionNode,
    ): DecisionNode => {
      const middle = (from + to) >> 1
      // Sizes are integers, so the limit is one less than the edge.
      const atMost = edges[middle] - 1
      return { kind: 'threshold', attribute, atMost, below: part([from, middle]), above: part([middle, to]) }
    }
    if (lengthOf(perNode) > 1)
      return halved('processesPerNode', processesPerNode, perNode, (part) => nodeOf(ofBytes, ofNodes, part))
    if (lengthOf(ofNodes) > 1)
      return halved('nodes', nodes, ofNodes, (part) => nodeOf(ofBytes, part, perNode))
    return halved('bytes', bytes, ofBytes, (part) => nodeOf(part, ofNodes, perNode))
  }
  const root = nodeOf([0, bytes.length], [0, nodes.length], [0, processesPerNode.length])
  const more = own < 0 ? [{ collective, algorithm: defaultAlgorithm, parameters: {} }] : []
  return { settings: [...settings, ...more], root }
}

function lengthOf([from, to]: Range): number {
  return to - from
}
