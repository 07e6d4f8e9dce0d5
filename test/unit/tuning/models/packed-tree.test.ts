import { describe, expect, it } from 'vitest'
import { treeSelector } from '../../../../src/tuning/models/decision-tree.js'
import { leafOf } from '../../../support/tree-walks.js'
import { exampleCalls, exampleTrees } from '../../../support/tuning-trees.js'

describe('the decisions of a tree', () => {
  it.each([...exampleTrees()])('are its leaves: %s, at every grid point and beyond its edges', (_, tree) => {
    const select = treeSelector(tree)
    expect(exampleCalls().filter((call) => select(call) !== leafOf(tree, call).setting)).toEqual([])
  })
})
