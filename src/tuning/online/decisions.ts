import type { DecisionTree } from '../decision-tree.js'
import { type DecisionGrid, openGrid } from './decision-grid.js'
import { gridTree } from './grid-tree.js'

/** What a tuning file has of a collective: a tree learned from measurements, or a grid learned from runs. */
export type Decisions = DecisionTree | DecisionGrid

export function isGrid(decisions: Decisions): decisions is DecisionGrid {
  return 'kind' in decisions
}

/** Decisions as a tree, whatever they were learned as. */
export function treeOfDecisions(decisions: Decisions): DecisionTree {
  return isGrid(decisions) ? gridTree(openGrid('grid', decisions)) : decisions
}
