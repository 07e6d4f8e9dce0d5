import { expect, it } from 'vitest'
import { CommunicatorTree } from '../../../../src/service/worlds/served-member.js'

const nothing = { entry: undefined }

it('lists as much as the budget has, and says how much is hidden', () => {
  const tree = new CommunicatorTree()
  for (let rank = 0; rank < 3; rank++) tree.add('world', nothing, 'world', null, 3, rank, rank)
  const world = tree.parent('world')
  tree.add('0.1', world, 'dup', null, 1, 0, 0)
  tree.add('0.2', world, 'dup', null, 1, 0, 0)
  const budget = { communicators: 2, ranks: 2 }
  expect(tree.list(budget)).toMatchObject({
    communicators: [
      { id: 'world', worldRanks: null },
      { id: '0.1', worldRanks: [0] },
    ],
    hidden: 1,
  })
  // Of the next tree.
  expect(budget).toEqual({ communicators: 0, ranks: 1 })
})
