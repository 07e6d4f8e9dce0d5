import { expect, test } from 'vitest'
import { local } from '../../../src/entry/index.js'
import { onRanks } from '../../support/on-ranks.js'

// First in this file: the solver is loaded once, by work that Node does not report as active.
test('the engine exact loads its solver while ranks of several processes wait, which is no deadlock', async () => {
  const strategy = { kind: 'common-neighbor', k: 2, mode: 'agnostic', engine: 'exact' } as const
  const sizes = await onRanks({ ranks: 8, fabric: local({ processes: 4 }) }, async (world) => {
    const { rank, size } = world
    const sources = [(rank + size - 1) % size]
    const destinations = [(rank + 1) % size]
    const ring = await world.createDistGraphAdjacent({ sources, destinations, strategy })
    return ring.size
  })
  expect(sizes).toEqual(Array.from({ length: 8 }, () => 8))
})
