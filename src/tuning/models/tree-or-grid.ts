import { type DecisionGrid, openGrid } from './decision-grid.js'
import type { DecisionTree } from './decision-tree.js'
import { gridTree } from './grid-tree.js'

/** The decisions of a tuning file for a collective: a tree learned from measurements, or a grid learned from runs. */
export type TreeOrGrid = DecisionTree | DecisionGrid

export function isGrid(decisions: TreeOrGrid): decisions is DecisionGrid {
  return 'kind' in decisions
}

/** Returns decisions as a tree, whatever form they have. */
export function treeOfDecisions(decisions: TreeOrGrid): DecisionTree {
  return isGrid(decisions) ? gridTree(openGrid('grid', decisions)) : decisions
}
