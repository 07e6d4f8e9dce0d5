import { expect, test } from 'vitest'
import { cartTopology } from '../../../src/topology/generate/cartesian.js'
import { checkTopology } from '../../../src/topology/process-topology.js'
import { refusal } from '../../support/refusal.js'
import { thrown } from './thrown.js'

const grid = cartTopology({ dims: [3, 2], periods: [true, false] })

test.each([
  ['a shape without Cartesian pairing', { pairing: 'occurrence' as const }, 'exactly with Cartesian pairing'],
  ['Cartesian pairing without a shape', { cart: null }, 'exactly with Cartesian pairing'],
  [
    'another number of ranks',
    { cart: { dims: [3, 3], periods: [true, false] } },
    'expected 9 ranks for a grid of 3x3, got 6',
  ],
  [
    'the lists of another shape',
    { cart: { dims: [3, 2], periods: [false, false] } },
    'destinations of rank 0 of the grid: expected [2, 1], got [4, 2, 1]',
  ],
  [
    'sources in another order',
    { inRank: grid.inRank.map((_, i, all) => all[i < 2 ? 1 - i : i]) },
    'sources of rank 0 of the grid: expected [4, 2, 1], got [2, 4, 1]',
  ],
])('checkTopology rejects %s', (_, change, message) => {
  expect(() => checkTopology({ ...grid, ...change })).toThrow(refusal('ERR_TOPOLOGY', message))
})

test('checkTopology rejects a malformed shape', () => {
  expect(thrown(() => checkTopology({ ...grid, cart: { dims: [3, 2], periods: [true] } })).code).toBe(
    'ERR_DIMS',
  )
})
